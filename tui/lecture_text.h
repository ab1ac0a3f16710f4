/* The text of a lecture's stop as HTML and as Markdown, for what is taken home. */
#ifndef TUI_LECTURE_TEXT_H
#define TUI_LECTURE_TEXT_H

#include "base/text.h"
#include "lecture/lecture.h"

/* A text with inline marks as HTML. Addresses that are neither http nor https are left out. */
void lecture_text_add_html(Text *out, const char *text);
/* The stop's blocks, as paragraphs, lists and code. */
void lecture_blocks_add_html(Text *out, const LectureStop *stop);
/* The question with its choices, as a block of the class "question". */
void lecture_question_add_html(Text *out, const LectureQuestion *question);

void lecture_blocks_add_markdown(Text *out, const LectureStop *stop);
void lecture_question_add_markdown(Text *out, const LectureQuestion *question);

#endif
