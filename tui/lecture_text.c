/* Blocks and inline marks as HTML and as Markdown. */
#include "tui/lecture_text.h"

#include "tui/draw/html.h"
#include <string.h>

/* ---- HTML ---------------------------------------------------------------------------------------------- */

void tui_lecture_text_add_html(Text *out, const char *text) {
    static const char *const elements[] = {
        [LECTURE_STRONG] = "strong", [LECTURE_EMPHASIS] = "em", [LECTURE_INLINE_CODE] = "code"};
    LectureSpan span;
    while (lecture_next_span(&text, &span)) {
        if (span.mark == LECTURE_LINK) {
            bool is_web = !strncmp(span.address, "https://", 8) || !strncmp(span.address, "http://", 7);
            if (is_web) {
                text_add(out, "<a rel=\"noreferrer\" href=\"");
                html_add_text(out, span.address, span.address_length);
                text_add(out, "\">");
            }
            html_add_text(out, span.text, span.length);
            if (is_web) text_add(out, "</a>");
        } else if (span.mark == LECTURE_PLAIN) {
            html_add_text(out, span.text, span.length);
        } else {
            text_print(out, "<%s>", elements[span.mark]);
            html_add_text(out, span.text, span.length);
            text_print(out, "</%s>", elements[span.mark]);
        }
    }
}

static void add_element(Text *out, const char *element, const char *text) {
    text_print(out, "<%s>", element);
    tui_lecture_text_add_html(out, text);
    text_print(out, "</%s>\n", element);
}

static const char *list_of(const LectureBlock *block) {
    return block->kind != LECTURE_ITEM ? NULL : *block->label == '-' || *block->label == '*' ? "ul" : "ol";
}

void tui_lecture_blocks_add_html(Text *out, const LectureStop *stop) {
    const char *list = NULL;
    for (int i = 0; i < stop->block_count; i++) {
        const LectureBlock *block = &stop->blocks[i];
        const char *wanted = list_of(block);
        if (list && list != wanted) text_print(out, "</%s>\n", list);
        if (wanted && list != wanted) text_print(out, "<%s>\n", wanted);
        list = wanted;
        if (block->kind == LECTURE_CODE) {
            text_add(out, "<pre class=\"code\">");
            html_add_text(out, block->text, strlen(block->text));
            text_add(out, "</pre>\n");
        } else {
            add_element(out, wanted ? "li" : block->kind == LECTURE_HEADING ? "h3" : "p", block->text);
        }
    }
    if (list) text_print(out, "</%s>\n", list);
}

void tui_lecture_question_add_html(Text *out, const LectureQuestion *question) {
    text_add(out, "<div class=\"question\">\n");
    add_element(out, "p", question->text);
    if (question->choice_count) text_add(out, "<ol class=\"choices\">\n");
    for (int i = 0; i < question->choice_count; i++) add_element(out, "li", question->choices[i]);
    if (question->choice_count) text_add(out, "</ol>\n");
    text_add(out, "</div>\n");
}

/* ---- Markdown ------------------------------------------------------------------------------------------ */

/* The text is the file's own, so its marks are already in it. A code block that contains a fence gets a
 * longer one. */
static void add_code(Text *out, const char *text) {
    const char *fence = strstr(text, "```") ? "``````" : "```";
    text_print(out, "%s\n%s%s\n", fence, text, fence);
}

void tui_lecture_blocks_add_markdown(Text *out, const LectureStop *stop) {
    for (int i = 0; i < stop->block_count; i++) {
        const LectureBlock *block = &stop->blocks[i];
        bool follows = i + 1 < stop->block_count && list_of(block) && list_of(&stop->blocks[i + 1]);
        if (block->kind == LECTURE_CODE)
            add_code(out, block->text);
        else if (block->kind == LECTURE_ITEM)
            text_print(out, "%s %s\n", block->label, block->text);
        else
            text_print(out, "%s%s\n", block->kind == LECTURE_HEADING ? "### " : "", block->text);
        if (!follows) text_add(out, "\n");
    }
}

void tui_lecture_question_add_markdown(Text *out, const LectureQuestion *question) {
    text_print(out, "**?** %s\n\n", question->text);
    for (int i = 0; i < question->choice_count; i++) text_print(out, "%d. %s\n", i + 1, question->choices[i]);
    if (question->choice_count) text_add(out, "\n");
}
