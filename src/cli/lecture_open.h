/* Lectures by name, and the options of their stops. */
#ifndef CLI_LECTURE_OPEN_H
#define CLI_LECTURE_OPEN_H

#include "cli/options.h"
#include "cli/translated_files.h"
#include "tui/lecture_run.h"

enum { LECTURES_MOST = TRANSLATED_MOST, LECTURE_NAME_BYTES = TRANSLATED_NAME_BYTES };

typedef struct OpenLecture {
    Lecture *lecture;
    Options *options;       /* [stop_count] */
    LectureScreen *screens; /* [stop_count] */
    LectureRun run;
    Arena arena;
} OpenLecture;

/* The reader's language: as requested, or from the locale; English if the terminal shows no Chinese, unless a
 * file of UTF-8 is written. */
const char *cli_lecture_language(const Options *options);

/* Opens the lecture that `options` name, in their language or the locale's, with their backend and machine.
 * Errors name the place in its file. Runs nothing. */
bool cli_lecture_open(const Options *options, OpenLecture *out, Error *error);
void cli_lecture_close(OpenLecture *open);

/* True if the lecture has the same stops and claims in its other languages. */
bool cli_lecture_check_languages(const OpenLecture *open, Error *error);

/* The shipped lectures in alphabetical order; -1: their folder cannot be read. */
int cli_lecture_names(char names[LECTURES_MOST][LECTURE_NAME_BYTES], Error *error);
/* In the language of the options; NULL with `error`. */
Lecture *cli_lecture_read_named(const Options *options, const char *name, Error *error);

/* --lecture: lists all shipped lectures, with their length and requirements. */
bool cli_lecture_list(const Options *options, Text *out, Error *error);

#endif
