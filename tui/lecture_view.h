/* Lecture view: the reader's stop, the question that waits, and the score. */
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
    const char *shown; /* LectureScreen.run of what is on the screen; NULL: another run was opened */
    enum { STOP_THERE, STOP_OPENS, STOP_OPENS_SECOND } opening;
    bool presses;  /* the stop's own keys are being pressed */
    bool has_left; /* other keys were pressed since: Enter comes back */
    int scroll;    /* first row of the text that is shown */
    QuestionState question;
    char typed[LECTURE_ANSWER_BYTES];
    int cursor;          /* the selected lane: number of the lane or bank that Space marks */
    bool has_marks;      /* `typed` is the mask of what Space marked */
    const char *problem; /* why the typed answer is none; NULL: nothing was wrong */
    LectureScore scores[LECTURE_TOPICS];
    int score_count;
    bool *answered; /* [stop_count] counted in the scores; owned */
} LectureView;

typedef struct LectureWords { /* of the panel, in the lecture's language; English where we do not speak it */
    const char *type_answer, *type_number, *type_choice;
    const char *mark_lane, *mark_bank;  /* formats: its number */
    const char *right, *wrong, *answer; /* formats: the value; the value and what was typed; the value */
    const char *score, *topic;          /* formats: right, asked; a topic, right, asked */
    const char *stop, *next, *first;    /* format: this one, all */
} LectureWords;
const LectureWords *lecture_view_words(const LectureView *lecture);

const LectureStop *lecture_view_stop(const LectureView *lecture); /* NULL: no lecture */
/* What is shown: the stop's own screen, or the last one that was set before it. */
const LectureScreen *lecture_view_screen(const LectureView *lecture);
void lecture_view_done(LectureView *lecture);

/* The stop is shown anew: its text from the start, its question waits. */
void lecture_view_begin_stop(LectureView *lecture, int stop);
/* A question waits, and figures are hidden. */
bool lecture_view_hides(const LectureView *lecture);

/* A key of an answer: a digit, Backspace, Space. Where lanes or banks are asked for, Space marks the one with the number of
 * the selected lane, and digits are counts of other keys (7x: lane 7), unless 0x begins a mask; `counts`: the count of
 * another key is being typed. */
bool lecture_view_type(LectureView *lecture, Key key, int lane, bool counts);
/* What was typed is the answer: right, wrong, or none, and then it goes on waiting. True: it was answered. */
bool lecture_view_answer(LectureView *lecture);
void lecture_view_skip(LectureView *lecture);

/* What the panel leaves to the interface of a screen of this size, and the panel's place. */
Rectangle lecture_panel_area(const LectureView *lecture, int *columns, int *rows);
void lecture_panel_draw(const LectureView *lecture, Canvas *canvas, Rectangle area);
/* Scrolls by about a panel; false: there is no more text in this direction. */
bool lecture_panel_scroll(LectureView *lecture, Rectangle area, int direction);
bool lecture_panel_scroll_rows(LectureView *lecture, Rectangle area, int rows);
/* The words "PgDn next" are there. */
bool lecture_panel_goes_on(const LectureView *lecture, Rectangle area, int column, int row);

#endif
