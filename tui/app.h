/* App: the interface from the first frame to quit, and one frame without a terminal.
 *
 * Both start from an opened session, which stays the caller's; sessions that the kernel menu opens (with the
 * options of the first one and another kernel) belong to the app and end with it. */
#ifndef TUI_APP_H
#define TUI_APP_H

#include "base/error.h"
#include "base/text.h"
#include "session/session.h"
#include "tui/draw/theme.h"
#include "tui/lecture_run.h"

typedef struct AppStart {
    Theme theme;
    int step;                      /* --step N, from 1; 0: the beginning */
    const SessionOptions *compare; /* --compare: a second run to compare with; NULL: none */
    const char *keys; /* pressed before the first frame, may be NULL: each character is a key, special keys
                         are written <Right>, <Enter>, ... (keys_name()), pauses as key_script.h says */
    const char *cast; /* a file for a recording (cast.h); NULL: none. app_frame() and app_record() record
                         the first frame and one after each key, each shown as long as the script says or a reader needs */
    int stop;         /* of the lecture, from 1; 0: the first */
    const LectureRun *lecture;    /* --lecture; the session is that of its first screen; NULL: none */
    const LectureOffer *lectures; /* that the menu offers; NULL: none */
    const char *machine;          /* --machine: whose recordings are shown; NULL: the default one */
    bool still;                   /* --no-motion */
    bool watch;                   /* app_run(): the runs are repeated when their source files change */
    bool svg; /* app_frame(): an SVG image instead of lines; of keys with pauses, one that moves: a frame for
                         each pause */
    bool ascii; /* the locale is not UTF-8: nl_langinfo(CODESET) after setlocale(LC_CTYPE, ""); no other
                         category, so that numbers stay as they are in C */
} AppStart;

/* Runs the interface on the terminal until the user quits. False with `error` (restored terminal, nothing
 * drawn) when standard input or output is no terminal, or TERM cannot place a cursor; the message names
 * --report and --frame. SIGTERM, SIGHUP and SIGINT restore the terminal and end the program by that same
 * signal. */
bool app_run(Session *session, const AppStart *start, Error *error);

/* Draws one frame of columns x rows after `start->keys` and appends it to `out` as lines. False on an unknown
 * key name and when a kernel that the keys open cannot be opened. */
bool app_frame(Session *session, int columns, int rows, const AppStart *start, Text *out, Error *error);

/* Plays the keys at that size into the recording `start->cast`; needs no terminal. While the script's keys let the run
 * play, it is recorded as a terminal shows it. No clock is asked: the same keys give the same bytes. */
bool app_record(Session *session, int columns, int rows, const AppStart *start, Error *error);

/* Appends a page for a browser to `out`: the frames of the run, or of every stop of the lecture, and what steps through
 * them. It needs nothing else: no network, no library. No terminal is needed. */
bool app_html(Session *session, int columns, int rows, const AppStart *start, Text *out, Error *error);

/* Appends the lecture `start->lecture` for printing to `out`, with the frames of its stops between the paragraphs: in HTML as
 * images, else in Markdown as text. The answers stand at the end. */
bool app_handout(Session *session, int columns, int rows, const AppStart *start, bool html, Text *out,
                 Error *error);

/* Every stop of a lecture in turn, as the interface shows it, without a terminal: do its claims hold, are its answers right?
 * What does not is a line in `out`, with its place and both sides' values; the last line counts. *failed: how many do not
 * hold. `live`: times are measured now. False: a stop cannot be shown. */
bool app_check_lecture(const LectureRun *lecture, const char *machine, bool live, Text *out, int *failed,
                       Error *error);

#endif
