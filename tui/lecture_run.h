/* Lecture run: a lecture with the options of its stops, ready to play. */
#ifndef TUI_LECTURE_RUN_H
#define TUI_LECTURE_RUN_H

#include "lecture/lecture.h"
#include "session/session.h"
#include "tui/view/view.h"

typedef struct LectureScreen { /* what a stop shows; texts and options are borrowed */
    bool is_set;               /* false: the screen stays as it is */
    const char *run; /* its options without keys and step: screens with the same text show the same run */
    const RunSpec *session;
    const RunSpec *compare; /* NULL: one run */
    const char *keys;       /* pressed first; may be NULL */
    int step;               /* from 1; 0: where the run opens */
} LectureScreen;

typedef struct LectureRun {
    const Lecture *lecture;
    const LectureScreen *screens; /* [lecture->stop_count] the first one is set */
    bool asks;                    /* questions wait for an answer */
} LectureRun;

typedef struct LectureOffer { /* the lectures that the menu of kernels offers */
    ViewTitles rows;
    const LectureRun *(*open)(void *context, int index, Error *error); /* borrowed until the interface ends */
    void *context;
} LectureOffer;

#endif
