/* App: the interface from the first frame to quit, and one frame without a terminal.
 *
 * Both start from an open session, which the caller owns. The app owns the sessions that the kernel menu
 * opens (same options, another kernel) and frees them at its end. */
#ifndef TUI_APP_H
#define TUI_APP_H

#include "base/error.h"
#include "base/text.h"
#include "ask/ask.h"
#include "tui/draw/key_codes.h"
#include "tui/draw/theme.h"
#include "tui/grading.h"
#include "tui/lecture_run.h"

typedef struct HomeOffer { /* what the home screen offers beside the catalogue */
    ViewHome rows;
    /* The options of an earlier run, borrowed until the interface ends; false: its line is not understood. */
    bool (*open)(void *context, int index, RunSpec *out, Error *error);
    void *context;
} HomeOffer;

/* The file of the run has a main(), which could be run instead. Once the user accepts, the interface ends,
 * and its caller runs the program. */
typedef struct ProgramOffer {
    bool is_accepted;
} ProgramOffer;

enum { APP_MOST_TYPED = 32 };

/* A session that is opened for app_run(). It must live as long as the session. */
typedef struct AppOpening {
    SessionProgress progress;
    bool ascii;                /* as in AppStart */
    bool given_up;             /* Esc was pressed */
    Key typed[APP_MOST_TYPED]; /* meanwhile, for the run */
    int typed_count;
} AppOpening;

typedef struct AppStart {
    Theme theme;
    int step;               /* --step N, from 1; 0: start of the run */
    const RunSpec *compare; /* --compare: a second run to compare with; NULL: none */
    /* Keys pressed before the first frame; may be NULL. Each character is a key, special keys are written
     * <Right>, <Enter>, ... (keys_name()), pauses as in keys.h. */
    const char *keys;
    /* The file to record to (cast.h); NULL: no recording. app_frame() and app_record() record the first frame
     * and one frame after each key, each shown for the time that the script states, else for the time a
     * reader needs. */
    const char *cast;
    /* --index: opens the index lab over the run, with these expressions; NULL for both: the usual ones */
    bool has_index;
    const char *index[2];
    bool has_what_if; /* --what-if: tries the first remedy of this kind */
    AskRemedyKind what_if;
    int stop;                     /* lecture stop, from 1; 0: the first */
    const LectureRun *lecture;    /* --lecture; the session is that of its first screen; NULL: no lecture */
    Grading *grading;             /* --exercise: `lecture` is its own, which grades change; NULL: none */
    const LectureOffer *lectures; /* the lectures that the menu offers; NULL: none */
    const ViewTitles *exercises;  /* that the menu offers; NULL: none */
    const char *command;          /* that runs redviz, for an exercise: "redviz" */
    const HomeOffer *home;        /* files and earlier runs that the menu offers; NULL: none */
    bool opens_home;              /* begins with the home screen, in front of the run */
    ProgramOffer *program;        /* app_run() asks first whether to run it; NULL: there is none */
    const char *machine;          /* --machine: whose recordings to show; NULL: the default machine */
    bool still;                   /* --no-motion */
    int pace;                     /* --pace: as `speed` of ViewDisplay */
    int *last_pace;               /* app_run(): set to the pace at the end; may be NULL */
    bool watch;                   /* app_run(): re-run when the source files change */
    const AppOpening *opening;    /* app_run(): how the session was opened; NULL: in another way */
    /* app_frame(): an SVG image instead of text. Keys with pauses give an animated image, one frame for each
     * pause. */
    bool svg;
    const char
        *interface; /* app_html(): the address of this run in the page of the interface; NULL: no link */
    /* The locale is not UTF-8: nl_langinfo(CODESET) after setlocale(LC_CTYPE, ""). No other category is set,
     * so that numbers keep the format of C. */
    bool ascii;
} AppStart;

/* Opens the session of a run. If that takes longer than 0.3 s, the terminal says what is opened (`what`, a
 * file or a kernel) and what is being done, and Esc gives it up. NULL: `error` says why, unless it was given
 * up; the terminal is then as it was. Else it may stay open until app_run() ends, or terminal_close(). */
Session *app_open_first(const RunSpec *run, const char *what, AppOpening *opening, Error *error);

/* Runs the interface on the terminal until the user quits. Returns false with `error` if standard input or
 * output is not a terminal, or TERM cannot place a cursor; the terminal is then unchanged, and the message
 * names --report and --frame. SIGTERM, SIGHUP and SIGINT restore the terminal and end the program by the same
 * signal. */
bool app_run(Session *session, const AppStart *start, Error *error);

/* The interface in lines, for readers who see no screen: reads commands from `in` to its end, and answers on
 * `out` with a fact a line. False for an unknown key name of `start`. */
bool app_plain(Session *session, const AppStart *start, FILE *in, FILE *out, Error *error);

/* Draws one frame of columns x rows after `start->keys` and appends it to `out` as lines. Returns false for
 * an unknown key name, or if a kernel that the keys open cannot be opened. */
bool app_frame(Session *session, int columns, int rows, const AppStart *start, Text *out, Error *error);

/* Plays the keys at that size into the recording `start->cast`; needs no terminal. While the script lets the
 * run play, the recording shows it as a terminal does. No clock is read: the same keys give the same
 * bytes. */
bool app_record(Session *session, int columns, int rows, const AppStart *start, Error *error);

/* Appends a web page to `out`: the frames of the run, or of every stop of the lecture, and the script that
 * steps through them. The page needs no network and no library. No terminal is needed. */
bool app_html(Session *session, int columns, int rows, const AppStart *start, Text *out, Error *error);

/* Appends the lecture `start->lecture` to `out` for printing, with the frames of its stops between the
 * paragraphs: as images in HTML, as text in Markdown. The answers stand at the end. */
bool app_handout(Session *session, int columns, int rows, const AppStart *start, bool html, Text *out,
                 Error *error);

/* Checks every stop of a lecture in turn, as the interface shows it, without a terminal: whether its claims
 * hold and its answers are right. Each failure is a line in `out` with its place and the values of both
 * sides; the last line counts them. *failed: how many fail. `live`: times are measured now. Returns false if
 * a stop cannot be shown. */
bool app_check_lecture(const LectureRun *lecture, const char *machine, bool live, Text *out, int *failed,
                       Error *error);

#endif
