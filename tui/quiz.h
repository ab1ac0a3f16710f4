/* Quiz: questions about any run, made from its trace: a lecture in memory (lecture.h), whose stops stand before the beat
 * that is asked about, and whose answers are expressions of the claim language, as in a file. */
#ifndef TUI_QUIZ_H
#define TUI_QUIZ_H

#include "tui/lecture_run.h"

enum { QUIZ_MOST = 12 }; /* questions */

typedef struct Quiz {
    LectureRun run;
    Lecture *lecture;       /* owned */
    LectureScreen *screens; /* owned */
    SessionOptions options; /* of the run, should it be opened again; strings are the session's */
} Quiz;

/* About the block that the interface shows of this run, which outlives the quiz; `language`: "zh", else English. False
 * where there is nothing to ask. */
bool quiz_open(Session *session, const char *language, Quiz *out, Error *error);
void quiz_close(Quiz *quiz);

#endif
