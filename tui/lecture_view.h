/* Lecture view: the reader's stop, the open question, and the score. */
#ifndef TUI_LECTURE_VIEW_H
#define TUI_LECTURE_VIEW_H

#include "tui/draw/canvas.h"
#include "tui/lecture_run.h"
#include "tui/view/view.h"

enum { LECTURE_ANSWER_BYTES = 24, LECTURE_TOPICS = 16 };

typedef enum QuestionState {
    QUESTION_NONE,
    QUESTION_WAITS,
    QUESTION_RIGHT,
    QUESTION_WRONG,
    QUESTION_SKIPPED
} QuestionState;

typedef struct LectureScore {
    const char *topic; /* borrowed from the lecture */
    int right, asked;
} LectureScore;

typedef struct LectureView {
    const LectureRun *run; /* NULL: no lecture */
    int stop;
    const char *shown; /* LectureScreen.run of the screen; NULL: another run was opened */
    enum { STOP_THERE, STOP_OPENS, STOP_OPENS_SECOND } opening;
    bool presses;  /* the stop's own keys are being pressed */
    bool has_left; /* other keys were pressed since: Enter returns */
    int scroll;    /* first row of the text that is shown */
    QuestionState question;
    char typed[LECTURE_ANSWER_BYTES];
    int cursor;      /* the selected lane: the lane or bank that Space marks */
    bool has_marks;  /* `typed` is the mask that Space made */
    bool is_refused; /* the typed answer was no number, or that of no choice; or a key did not answer */
    LectureScore scores[LECTURE_TOPICS];
    int score_count;
    bool *answered; /* [stop_count] already counted in the scores; owned */
} LectureView;

/* The panel's words in the lecture's language; English for a language that redviz does not have. */
typedef struct LectureWords {
    const char *type_answer, *type_number;
    const char *type_choice;            /* format: the number of choices */
    const char *mark_lane, *mark_bank;  /* formats: its number */
    const char *right, *wrong, *answer; /* formats: the value; the value and what was typed; the value */
    const char *score, *topic;          /* formats: right, asked; a topic, right, asked */
    const char *stop;                   /* format: this stop, all stops */
    const char *more, *next, *first;    /* what PgDn shows, with its name; what Home shows */
} LectureWords;
const LectureWords *view_lecture_words(const LectureView *lecture);

const LectureStop *view_lecture_stop(const LectureView *lecture); /* NULL: no lecture */
/* The exercise that Enter opens; NULL: none, or a question waits. */
const char *view_lecture_exercise(const LectureView *lecture);
/* What is shown: the stop's own screen, or the last screen set before it. */
const LectureScreen *view_lecture_screen(const LectureView *lecture);
void view_lecture_done(LectureView *lecture);

/* Shows the stop afresh: its text from the start, its question open. */
void view_lecture_begin_stop(LectureView *lecture, int stop);
/* What the open question asks about (HIDES_ bits of view.h), by the words of its answer's expression; 0: no
 * question is open. */
unsigned view_lecture_hides(const LectureView *lecture);
/* Sets what the view says of a lecture: what the open question hides, and what Enter does. */
void view_lecture_tell(const LectureView *lecture, View *view);
/* Why the answer that was typed is wrong; NULL: the lecture does not say. */
const char *view_lecture_reason(const LectureView *lecture);

/* Handles a key of an answer: a digit, Backspace, Space. If lanes or banks are asked for, Space marks the one
 * with the number of the selected lane, and digits count other keys (7x: lane 7) unless 0x begins a mask;
 * `counts`: the count of another key is being typed. */
bool view_lecture_type(LectureView *lecture, Key key, int lane, bool counts);
/* Takes what was typed as the answer: right, wrong, or invalid, in which case the question stays open. True:
 * it was answered. */
bool view_lecture_answer(LectureView *lecture);
void view_lecture_skip(LectureView *lecture);
/* At the last stop, if a question was answered: "Your answers: 1 of 4 right: latency 1 of 3". */
void view_lecture_add_score(const LectureView *lecture, Text *out);

/* The part of a screen of this size that the panel leaves to the interface, and the panel's place. */
Rectangle view_lecture_panel_area(const LectureView *lecture, int *columns, int *rows);
void view_lecture_panel_draw(const LectureView *lecture, Canvas *canvas, Rectangle area);
/* Scrolls by about a panel; false: no more text in this direction. */
bool view_lecture_panel_scroll(LectureView *lecture, Rectangle area, int direction);
bool view_lecture_panel_scroll_rows(LectureView *lecture, Rectangle area, int rows);
/* The words "PgDn next" or "PgDn ↓ more" are at this place. */
bool view_lecture_panel_goes_on(const LectureView *lecture, Rectangle area, int column, int row);

#endif
