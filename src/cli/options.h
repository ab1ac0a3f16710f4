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
#define SHOWN(action, ...)   ACTION_##action,
#define PRINTED(action, ...) ACTION_##action,
#include "cli/actions.def"
    CLI_ACTION_COUNT
} Action;

typedef struct ActionRow { /* of actions.def */
    bool needs_kernel;
    enum { SCREEN_NONE, SCREEN_FRAMES, SCREEN_TERMINAL } screen;
    enum { RACES_LATER, RACES_IF_KEPT, RACES_IF_JSON, RACES_ALWAYS } races;
    bool has_json;
} ActionRow;

extern const ActionRow action_rows[CLI_ACTION_COUNT];

typedef struct Options {
    SessionOptions session;
    Action action;
    const char *action_name; /* the option that chose it, "report"; NULL: none did */
    bool json;               /* --report=json, --json */
    bool profile;            /* --profile */
    int gpus;                /* --gpus; 0: not given */
    bool tsv;                /* --bench=tsv */
    bool grid;               /* --bench=grid */
    bool bench_sass;         /* --bench=sass */
    bool sarif;              /* --check=sarif */
    int frame_columns, frame_rows;
    const char *keys; /* NULL: none */
    bool still;       /* --no-motion */
    bool watch;       /* the file is run again when it changes */
    int step;         /* from 1; 0: not given */
    Theme theme;
    bool svg;                /* --frame as an image */
    const char *record_cast; /* NULL: nothing is recorded */
    const char *html;        /* NULL: no page is written */
    const char *handout;     /* NULL likewise; ends in .md or .html */
    const char *save;        /* NULL: the run is not kept */
    bool has_compare;        /* --compare: `compare` is the second run; beside a FILE.redviz not yet */
    SessionOptions compare;
    char compare_items[512]; /* what `compare` points into */
    bool has_lecture;
    const char *lecture;  /* its name, or FILE.md; NULL: they are listed */
    const char *language; /* NULL: the locale's */
    int stop;             /* of the lecture, from 1; 0: not given */
    bool predict;         /* questions are asked about the run */
    bool no_predict;      /* a lecture's questions are shown without waiting for an answer */
    const char *access_path, *dump;
    const char *generate; /* "man", "bash", "zsh", "fish" */
    const char *commit;   /* that the program was built from, "" if none is known; main() sets it */
    /* The first option that suits only what is run, only --kernel, only FILE.cu and FILE.ptx; NULL: none. */
    const char *first_for_run, *first_for_kernel, *first_for_file;
} Options;

/* actions.c: screens are drawn, on a terminal or without one. */
bool options_draws(const Options *options);
/* The interface is opened on a terminal. */
bool options_is_interface(const Options *options);

/* Everything is borrowed from `argv` and from `options` itself, which must stay where it is. False with a
 * line that names the option and says what it accepts. */
bool options_parse(int argc, char **argv, Options *options, Error *error);

/* options_compare.c: makes `compare` from the first run's settings, once they are known: for a FILE.redviz, when it is open.
 * Once. */
bool options_compare(Options *options, const SessionOptions *first, Error *error);

/* Do options that are right one by one go together? What belongs to lectures and pages is asked below. */
bool options_check_together(const Options *options, Error *error);
/* options_lecture.c: do --lecture, --predict and what belongs to them go together? */
bool options_check_lecture(const Options *options, Error *error);
/* options_page.c: --html and --handout are what is done, unless something else is printed; does it go together? */
void options_choose_page(Options *options);
bool options_check_page(const Options *options, Error *error);

typedef struct OptionRow OptionRow;
struct OptionRow { /* of options.def */
    const char *name;
    const char *argument; /* as --help shows it: "N", "=text|json" (optional), NULL: takes none */
    bool (*take)(Options *options, const OptionRow *row, const char *value, Error *error);
    const char *help;
    enum { ANY, RUN, CATALOGUE, USER_FILE } suits;
    Action action; /* of the options that choose one */
};

/* Option `index`, in the order of --help; NULL past the last. *title: of the group that starts with it, or NULL. */
const OptionRow *options_row(int index, const char **title);
/* options_help.c: "--report[=text|json]" */
void options_usage(const OptionRow *row, char *out, size_t bytes);

void options_print_help(Text *out);

#endif
