/* Lectures by name, and the options of their stops. */
#ifndef CLI_LECTURE_OPEN_H
#define CLI_LECTURE_OPEN_H

#include "cli/options.h"
#include "tui/lecture_run.h"

typedef struct OpenLecture {
    Lecture *lecture;
    Options *options;       /* [stop_count] of the stops */
    LectureScreen *screens; /* [stop_count] */
    LectureRun run;
    Arena arena;
} OpenLecture;

/* The lecture that `options` name, in their language or the locale's, with their backend and machine. Errors name the place
 * in its file. Nothing is run. */
bool lecture_open(const Options *options, OpenLecture *out, Error *error);
void lecture_close(OpenLecture *open);

/* Has it the same stops and claims in its other languages? */
bool lecture_check_languages(const OpenLecture *open, Error *error);

/* --lecture: all that ship, with their length and what they need. */
bool lecture_list(const Options *options, Text *out, Error *error);

#endif
