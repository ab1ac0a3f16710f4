/* The text of a stop in a panel: wrapped by words, scrolled by rows. */
#include "tui/lecture_view.h"
#include "tui/view/key_actions.h"

#include "base/language.h"
#include "base/characters.h"
#include <stdlib.h>
#include <string.h>

enum {
    RIGHT_FROM = 160,
    RIGHT_COLUMNS = 60,
    LEAST_ROWS = 6,
    MOST_ROWS = 12,
    LEAST_LEFT = 17, /* rows reserved for the interface */
    LEAST_LEFT_OF_TWO = 18,
    BETWEEN_COLUMNS = 10
};

static int rows_of_stop(const LectureView *lecture, int columns, int most);

Rectangle view_lecture_panel_area(const LectureView *lecture, int *columns, int *rows) {
    Rectangle area = {0, 0, 0, 0};
    if (!lecture->run || *columns <= 0) return area;
    if (*columns >= RIGHT_FROM) {
        *columns -= RIGHT_COLUMNS;
        return (Rectangle){*columns, 0, RIGHT_COLUMNS, *rows};
    }
    int most = *rows - (view_lecture_screen(lecture)->compare ? LEAST_LEFT_OF_TWO : LEAST_LEFT),
        share = *rows * 3 / 10;
    int limit = canvas_clamp(share, LEAST_ROWS, MOST_ROWS);
    if (limit > most) limit = most < 0 ? 0 : most;
    int wanted = limit < 2 ? limit : rows_of_stop(lecture, *columns, limit - 1) + 1;
    *rows -= wanted;
    return (Rectangle){0, *rows, *columns, wanted};
}

/* ---- lines of the text --------------------------------------------------------------------------------- */

/* Characters with their roles, before they are wrapped. */
typedef struct Prose {
    Text text, roles; /* one byte per character */
} Prose;

static void flow_add(Prose *flow, const char *text, size_t length, Role role) {
    text_add_bytes(&flow->text, text, length);
    for (char byte = (char)role; length > 0; length--) text_add_bytes(&flow->roles, &byte, 1);
}

static void flow_done(Prose *flow) {
    text_done(&flow->text);
    text_done(&flow->roles);
}

typedef struct Panel {
    Canvas *canvas; /* NULL: rows are only counted */
    Rectangle area;
    int scroll, row; /* the next row of the text */
} Panel;

/* Draws bytes first .. first + count of the flow in the next row. */
static void draw_row(Panel *panel, const Prose *flow, size_t first, size_t count, int indent) {
    int row = panel->row++ - panel->scroll, column = indent;
    if (!panel->canvas || row < 0 || row >= panel->area.rows) return;
    for (size_t at = first; at < first + count;) {
        size_t end = at;
        char piece[512];
        while (end < first + count && flow->roles.data[end] == flow->roles.data[at] &&
               end - at < sizeof piece - 4)
            end++;
        while (end < first + count && ((unsigned char)flow->text.data[end] & 0xc0) == 0x80) end++;
        snprintf(piece, sizeof piece, "%.*s", (int)(end - at), flow->text.data + at);
        column += canvas_text(panel->canvas, panel->area, column, row, (Role)flow->roles.data[at], piece);
        at = end;
    }
}

static void draw_flow(Panel *panel, const Prose *flow, int indent) {
    size_t at = 0, length = flow->text.length;
    int columns = panel->area.columns - indent;
    while (at < length) {
        size_t count = (size_t)line_break(flow->text.data + at, columns > 0 ? columns : 1);
        draw_row(panel, flow, at, count, indent);
        at += count;
        while (at < length && flow->text.data[at] == ' ') at++;
    }
}

static void draw_marked(Panel *panel, const char *label, const char *text, Role plain) {
    static const Role roles[] = {[LECTURE_PLAIN] = ROLE_TEXT,
                                 [LECTURE_STRONG] = ROLE_CURRENT,
                                 [LECTURE_EMPHASIS] = ROLE_KEYWORD,
                                 [LECTURE_INLINE_CODE] = ROLE_KEY,
                                 [LECTURE_LINK] = ROLE_TEXT};
    Prose flow = {0};
    LectureSpan span;
    int row = panel->row;
    while (lecture_next_span(&text, &span))
        flow_add(&flow, span.text, span.length, span.mark == LECTURE_PLAIN ? plain : roles[span.mark]);
    draw_flow(panel, &flow, label ? (int)strlen(label) + 1 : 0);
    row -= panel->scroll;
    if (label && panel->canvas && row >= 0 && row < panel->area.rows)
        canvas_text(panel->canvas, panel->area, 0, row, ROLE_DIM, label);
    flow_done(&flow);
}

static void draw_code(Panel *panel, const char *text) {
    while (*text) {
        Prose flow = {0};
        size_t length = strcspn(text, "\n");
        flow_add(&flow, text, length, ROLE_KEY);
        draw_row(panel, &flow, 0, flow.text.length, 2);
        flow_done(&flow);
        text += length + (text[length] == '\n');
    }
}

static void draw_block(Panel *panel, const LectureBlock *block) {
    if (block->kind == LECTURE_CODE)
        draw_code(panel, block->text);
    else
        draw_marked(panel, block->label, block->text,
                    block->kind == LECTURE_HEADING ? ROLE_TITLE : ROLE_TEXT);
}

/* ---- the question -------------------------------------------------------------------------------------- */

static void draw_choices(Panel *panel, const LectureQuestion *question) {
    for (int i = 0; i < question->choice_count; i++) {
        char label[16];
        snprintf(label, sizeof label, "%d", i + 1);
        draw_marked(panel, label, question->choices[i], ROLE_TEXT);
    }
}

static void draw_line(Panel *panel, Role role, const char *text) {
    Prose flow = {0};
    flow_add(&flow, text, strlen(text), role);
    draw_flow(panel, &flow, 0);
    flow_done(&flow);
}

/* The formats are those of view_lecture_words(), each with the arguments that lecture_view.h names. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
/* Shows what was typed, and what to do. */
/* "0, 8, 16, 24": the lanes or banks of a mask; any other answer as it is. */
static void print_answer(const LectureQuestion *question, const char *answer, Text *out) {
    unsigned long mask = strtoul(answer, NULL, 0);
    bool begun = false;
    if (!question->pointing || !mask) {
        text_add(out, answer);
        return;
    }
    for (int bit = 0; bit < 32; bit++) {
        if (!(mask >> bit & 1)) continue;
        text_print(out, "%s%d", begun ? ", " : "", bit);
        begun = true;
    }
}

/* Which keys answer the open question. */
static void print_how(const LectureView *lecture, Text *out) {
    const LectureWords *words = view_lecture_words(lecture);
    const LectureQuestion *question = view_lecture_stop(lecture)->question;
    if (question->choice_count)
        text_print(out, words->type_choice, question->choice_count);
    else if (question->pointing)
        text_print(out, question->pointing == LECTURE_LANES ? words->mark_lane : words->mark_bank,
                   lecture->cursor);
    else
        text_add(out, lecture->is_refused ? words->type_number : words->type_answer);
}

static void print_typed(Text *line, const LectureView *lecture) {
    const LectureQuestion *question = view_lecture_stop(lecture)->question;
    text_add(line, "> ");
    if (lecture->has_marks)
        print_answer(question, lecture->typed, line);
    else
        text_add(line, lecture->typed);
    text_add(line, "_   ");
    print_how(lecture, line);
}

static void draw_question(Panel *panel, const LectureView *lecture, const LectureQuestion *question) {
    const LectureWords *words = view_lecture_words(lecture);
    Text line = {0}, value = {0}, typed = {0};
    print_answer(question, question->value, &value);
    int choice = question->choice_count ? atoi(lecture->typed) : 0;
    if (choice >= 1 && choice <= question->choice_count)
        text_add(&typed, question->choices[choice - 1]);
    else
        print_answer(question, lecture->typed, &typed);
    draw_marked(panel, "?", question->text, ROLE_CURRENT);
    switch (lecture->question) {
    case QUESTION_WAITS:
        draw_choices(panel, question);
        print_typed(&line, lecture);
        draw_line(panel, lecture->is_refused ? ROLE_WARNING : ROLE_KEY, text_string(&line));
        break;
    case QUESTION_RIGHT:
        text_print(&line, words->right, text_string(&value));
        draw_marked(panel, NULL, text_string(&line), ROLE_GOOD);
        break;
    case QUESTION_WRONG:
        text_print(&line, words->wrong, text_string(&value), text_string(&typed));
        draw_marked(panel, NULL, text_string(&line), ROLE_WARNING);
        if (view_lecture_reason(lecture)) draw_marked(panel, "", view_lecture_reason(lecture), ROLE_TEXT);
        break;
    case QUESTION_SKIPPED:
        text_print(&line, words->answer, text_string(&value));
        draw_marked(panel, NULL, text_string(&line), ROLE_CURRENT);
        break;
    case QUESTION_NONE: /* the lecturer asks the audience */
        draw_choices(panel, question);
        break;
    }
    text_done(&value);
    text_done(&typed);
    text_done(&line);
}

void view_lecture_add_score(const LectureView *lecture, Text *out) {
    const LectureWords *words = view_lecture_words(lecture);
    int right = 0, asked = 0;
    if (!lecture->score_count || lecture->stop + 1 != lecture->run->lecture->stop_count) return;
    for (int i = 0; i < lecture->score_count; i++) {
        right += lecture->scores[i].right;
        asked += lecture->scores[i].asked;
    }
    text_print(out, words->score, right, asked);
    for (int i = 0; i < lecture->score_count; i++) {
        text_add(out, i ? ", " : ": ");
        text_print(out, words->topic, lecture->scores[i].topic, lecture->scores[i].right,
                   lecture->scores[i].asked);
    }
}

static void print_place(const LectureView *lecture, char *out, size_t bytes) {
    snprintf(out, bytes, view_lecture_words(lecture)->stop, lecture->stop + 1,
             lecture->run->lecture->stop_count);
}
#pragma GCC diagnostic pop

/* "4/19   PgDn next": the least that a rule says. */
static void print_short_note(const LectureView *lecture, const char *next, char *out, size_t bytes) {
    snprintf(out, bytes, "%d/%d   %s", lecture->stop + 1, lecture->run->lecture->stop_count, next);
}

/* The stop's title is too long to stand beside the short note in a rule of this many columns: it becomes the
 * text's first line, and the lecture's title stands in the rule. */
static bool has_title_in_text(const LectureView *lecture, int columns) {
    char note[64];
    print_short_note(lecture, view_lecture_words(lecture)->more, note, sizeof note);
    return canvas_text_columns(view_lecture_stop(lecture)->title) + canvas_text_columns(note) +
               BETWEEN_COLUMNS >
           columns;
}

/* Draws the visible rows; returns the number of all rows. `spaced`: an empty row between two paragraphs. */
static int draw_rows(const LectureView *lecture, Canvas *canvas, Rectangle area, bool spaced) {
    const LectureStop *stop = view_lecture_stop(lecture);
    Panel panel = {canvas, area, lecture->scroll, 0};
    if (has_title_in_text(lecture, area.columns + 2)) {
        draw_marked(&panel, NULL, stop->title, ROLE_TITLE);
        panel.row += spaced;
    }
    for (int i = 0; i < stop->block_count; i++) {
        bool follows =
            i > 0 && stop->blocks[i].kind == LECTURE_ITEM && stop->blocks[i - 1].kind == LECTURE_ITEM;
        if (i > 0 && !follows && spaced) panel.row++;
        draw_block(&panel, &stop->blocks[i]);
    }
    if (stop->question) draw_question(&panel, lecture, stop->question);
    if (view_lecture_exercise(lecture))
        draw_line(&panel, ROLE_KEY, tr("Enter: solve this exercise   PgDn: go on"));
    Text score = {0};
    view_lecture_add_score(lecture, &score);
    if (score.length) draw_line(&panel, ROLE_CURRENT, text_string(&score));
    text_done(&score);
    return panel.row;
}

/* Separates paragraphs if there is room. */
static int draw_text(const LectureView *lecture, Canvas *canvas, Rectangle area) {
    bool spaced = area.rows > LEAST_ROWS || draw_rows(lecture, NULL, area, true) <= area.rows;
    return draw_rows(lecture, canvas, area, spaced);
}

/* The rows of the stop's text, so that a short text leaves its rows to the interface. The count always
 * includes the open question, so that an answer moves nothing. */
static int rows_of_stop(const LectureView *lecture, int columns, int most) {
    LectureView asked = *lecture;
    Rectangle inside = {0, 0, columns - 2, most};
    if (asked.question != QUESTION_NONE) asked.question = QUESTION_WAITS;
    asked.is_refused = false;
    asked.typed[0] = 0;
    int rows = draw_text(&asked, NULL, inside), now = draw_text(lecture, NULL, inside);
    const LectureQuestion *question = view_lecture_stop(lecture)->question;
    rows +=
        asked.question != QUESTION_NONE && question->reason_count && !question->choice_count; /* a reason */
    if (now > rows) rows = now;
    return canvas_clamp(rows, 2, most);
}

static Rectangle inside_of(Rectangle area) {
    return (Rectangle){area.column + 1, area.row + 1, area.columns - 2, area.rows - 1};
}

static const char *title_in_rule(const LectureView *lecture, Rectangle area) {
    return has_title_in_text(lecture, area.columns) ? lecture->run->lecture->title
                                                    : view_lecture_stop(lecture)->title;
}

static bool has_more_below(const LectureView *lecture, Rectangle inside) {
    return lecture->scroll + inside.rows < draw_text(lecture, NULL, inside);
}

/* What PgDn does. After the last stop: what else is left to do. */
static const char *what_is_next(const LectureView *lecture, Rectangle area) {
    const LectureWords *words = view_lecture_words(lecture);
    if (has_more_below(lecture, inside_of(area))) return words->more;
    return lecture->stop + 1 == lecture->run->lecture->stop_count ? words->first : words->next;
}

/* "From divergence to shuffles   stop 4 of 19   PgDn next", as much as fits beside the stop's title. */
static void print_note(const LectureView *lecture, Rectangle area, char *out, size_t bytes) {
    const Lecture *of = lecture->run->lecture;
    const char *title = title_in_rule(lecture, area), *next = what_is_next(lecture, area);
    char place[64];
    int room = area.columns - canvas_text_columns(title) - BETWEEN_COLUMNS;
    print_place(lecture, place, sizeof place);
    snprintf(out, bytes, "%.80s   %s   %s", of->title, place, next);
    if (canvas_text_columns(out) > room || !strcmp(title, of->title))
        snprintf(out, bytes, "%s   %s", place, next);
    if (canvas_text_columns(out) > room) print_short_note(lecture, next, out, bytes);
}

void view_lecture_panel_draw(const LectureView *lecture, Canvas *canvas, Rectangle area) {
    char note[256];
    if (area.rows < 2) return;
    print_note(lecture, area, note, sizeof note);
    canvas_rule(canvas, area, ROLE_TITLE, title_in_rule(lecture, area), ROLE_DIM, note);
    draw_text(lecture, canvas, inside_of(area));
}

bool view_lecture_panel_goes_on(const LectureView *lecture, Rectangle area, int column, int row) {
    enum { AFTER_NOTE = 3 }; /* of a rule: a blank and two lines */
    char note[256];
    const char *next = what_is_next(lecture, area);
    int end = area.column + area.columns - AFTER_NOTE, begin = end - canvas_text_columns(next);
    print_note(lecture, area, note, sizeof note);
    return next != view_lecture_words(lecture)->first && strstr(note, next) && row == area.row &&
           column >= begin && column < end;
}

bool view_lecture_panel_scroll_rows(LectureView *lecture, Rectangle area, int rows) {
    if (area.rows < 2) return false;
    Rectangle inside = inside_of(area);
    int scroll = canvas_scroll(lecture->scroll + rows, inside.rows, draw_text(lecture, NULL, inside));
    /* an answer may have removed rows */
    bool moved = rows > 0 ? scroll > lecture->scroll : scroll < lecture->scroll;
    lecture->scroll = scroll;
    return moved;
}

bool view_lecture_panel_scroll(LectureView *lecture, Rectangle area, int direction) {
    int page = inside_of(area).rows > 2 ? inside_of(area).rows - 1 : 1;
    return view_lecture_panel_scroll_rows(lecture, area, direction * page);
}
