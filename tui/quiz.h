/* Quiz: questions about any run, made from its trace. It is a lecture in memory (lecture.h): each stop stands
 * before the beat that it asks about, and the answers are expressions of the claim language, as in a file. */
#ifndef TUI_QUIZ_H
#define TUI_QUIZ_H

#include "tui/lecture_run.h"

enum { QUIZ_MOST = 12 }; /* questions */

typedef struct Quiz {
    LectureRun run;
    Lecture *lecture;       /* owned */
    LectureScreen *screens; /* owned */
    RunSpec options;        /* options that re-open the run; strings are the session's */
} Quiz;

/* Makes questions about the block that the interface shows of this run, which outlives the quiz; `language`:
 * "zh", else English. False if there is nothing to ask. */
bool quiz_open(Session *session, const char *language, Quiz *out, Error *error);
void quiz_close(Quiz *quiz);

#endif
