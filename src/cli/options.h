/* Options: the command line, read and checked.
 *
 * One table (options.def) holds every option: its name, its argument, what it stands for in --help, and the
 * function that takes its value. Numbers are decimal, hexadecimal (0x100000) or powers (2^20). */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include "base/text.h"
#include "session/session.h"
#include "tui/draw/theme.h"

typedef enum Action {
    ACTION_OPEN,   /* the interface */
    ACTION_REPORT, /* --report */
    ACTION_CHECK,  /* --check */
    ACTION_EVENTS, /* --events */
    ACTION_FRAME,  /* --frame */
    ACTION_RECORD, /* --record-cast with --keys: nothing is printed, and no terminal needed */
    ACTION_DUMP,   /* --dump */
    ACTION_VERIFY, /* --verify */
    ACTION_LIST,   /* --list */
    ACTION_ACCESS, /* --access */
    ACTION_BENCH,  /* --bench */
    ACTION_KEYS,   /* --help-keys */
    ACTION_HELP,
    ACTION_VERSION
} Action;

typedef struct Options {
    SessionOptions session;
    Action action;
    const char *action_name; /* the option that chose it, "report"; NULL: none did */
    bool json;               /* --report=json, --json */
    bool profile;            /* --profile */
    bool tsv;                /* --bench=tsv */
    int frame_columns, frame_rows;
    const char *keys; /* NULL: none */
    bool still;       /* --no-motion */
    bool watch;       /* the file is run again when it changes */
    int step;         /* from 1; 0: not given */
    Theme theme;
    bool svg;                /* --frame as an image */
    const char *record_cast; /* NULL: nothing is recorded */
    const char *save;        /* NULL: the run is not kept */
    bool has_compare;        /* --compare: `compare` is the second run; beside a FILE.redviz not yet */
    SessionOptions compare;
    char compare_items[512]; /* what `compare` points into */
    const char *access_path, *dump;
    const char *first_for_run, *first_for_kernel,
        *first_for_file; /* an option that only suits what is run, --kernel, FILE.ptx; NULL */
} Options;

/* Everything is borrowed from `argv` and from `options` itself, which must stay where it is. False with a
 * line that names the option and says what it accepts. */
bool options_parse(int argc, char **argv, Options *options, Error *error);

/* Makes `compare` from the first run's settings, once they are known: for a FILE.redviz, when it is open.
 * Once. */
bool options_compare(Options *options, const SessionOptions *first, Error *error);

void options_print_help(Text *out);

#endif
