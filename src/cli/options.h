/* Options: reads and checks the command line.
 *
 * One table (options.def) holds every option: its name, its argument, its help text, and the function that
 * reads its value. Numbers are decimal, hexadecimal (0x100000) or powers (2^20). */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include "base/text.h"
#include "exercise/grade_print.h"
#include "findings/accepted.h"
#include "ask/ask.h"
#include "tui/draw/theme.h"

typedef enum Action {
#define SHOWN(action, ...)    ACTION_##action,
#define PRINTED(action, ...)  ACTION_##action,
#define RECORDED(action, ...) ACTION_##action,
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

enum { OPTIONS_MOST = 96 };

typedef struct Options {
    bool given[OPTIONS_MOST]; /* [option] by its row of options.def */
    RunSpec session;
    Action action;
    const char *action_name;   /* the option that selected it, "report"; NULL: none did */
    bool json;                 /* --report=json, --json */
    bool records;              /* the program is redviz-record; set it before options_parse() */
    bool profile;              /* --profile */
    int gpus;                  /* --gpus; 0: not given */
    bool tsv;                  /* --bench=tsv */
    bool grid;                 /* --bench=grid */
    SessionWarpsForm timeline; /* --timeline */
    bool bench_sass;           /* --bench=sass */
    const char *check_log;     /* --check: "sarif" or "junit"; NULL: text or JSON */
    CheckTool tool;            /* --tool */
    LaunchChoice launches;     /* --kernel-name, --launch-skip, --launch-count */
    int error_exit;            /* --error-exitcode: the status of a check that fails */
    const char *baseline, *suppress, *fail_on; /* of --check; NULL: not given */
    Accepted *accepted; /* what they accept, read by perform_run(); NULL: none of them was given */
    int frame_columns, frame_rows;
    const char *keys; /* NULL: none */
    bool still;       /* --no-motion */
    int pace;         /* --pace: as `speed` of ViewDisplay */
    bool plain;       /* --plain, or TERM=dumb */
    bool watch;       /* runs the file again when it changes */
    bool home;        /* nothing to run was given: begins with the home screen */
    int step;         /* from 1; 0: not given */
    Theme theme;
    bool svg;                /* --frame as an image */
    const char *record_cast; /* NULL: no recording */
    const char *html;        /* NULL: no page */
    const char *handout;     /* NULL: no handout; ends in .md or .html */
    const char *save;        /* NULL: not saved */
    bool has_compare;        /* --compare: `compare` is the second run; for a FILE.redviz, set later */
    RunSpec compare;
    char compare_items[512]; /* storage for `compare` */
    const char *invariant;   /* --invariant; NULL: not given */
    bool has_what_if;        /* --what-if: tries this remedy */
    AskRemedyKind what_if;
    char **run_files; /* --run: FILE.cu ..., ended by NULL; NULL: not given */
    /* what follows --: the arguments of --run, else a program and its arguments; NULL: not given */
    char **program_arguments;
    double time_limit; /* seconds */
    const char *call;  /* --call; NULL: not given */
    bool call_failed;  /* set by it: an output was wrong */
    const char *sizes; /* --n 1,31,1000: of --call; NULL: not given */
    const char *at;    /* the launch to show: "3", "reduce#2"; NULL: the one with the most to show */
    bool run;          /* --run */
    bool has_lecture;
    const char *lecture;  /* its name, or FILE.md; NULL: lists them */
    const char *language; /* NULL: the locale's */
    int stop;             /* of the lecture, from 1; 0: not given */
    bool has_exercise;
    const char *exercise; /* its name, or FILE.md; NULL: lists them */
    bool grades;          /* --grade; the action is CHECK */
    GradeForm grade;
    const char *submission; /* FILE.cu or a folder; NULL: not given */
    bool predict;           /* asks questions about the run */
    bool no_predict;        /* shows a lecture's questions without waiting for an answer */
    bool has_index;         /* --index: the index lab, or with --report its figures */
    const char *index[2];   /* its expressions; NULL: not given */
    const char *access_path, *dump;
    const char *generate; /* "man", "bash", "zsh", "fish" */
    int argc;             /* the command line, for the list of last runs; argv NULL: not kept */
    char **argv;
    const char *commit; /* the program's git commit, or ""; set by main() */
    /* The first option that applies only to a run, only to --kernel, only to FILE.cu and FILE.ptx, to
     * these and to --source; NULL: none. */
    const char *first_for_run, *first_for_kernel, *first_for_file, *first_for_compiled;
} Options;

/* actions.c: true if screens are drawn, on a terminal or without one. */
bool options_draws(const Options *options);
/* True if the interface opens on a terminal. */
bool options_is_interface(const Options *options);
/* True if a page, an image or a grader's file is written, which are UTF-8 in every locale. */
bool options_writes_utf8(const Options *options);
/* --run, --call, or a program behind --. */
bool options_has_program(const Options *options);

/* Sets every option to its default: call before options_parse(). */
void options_begin(Options *options);

/* Strings are borrowed from `argv` and from `options` itself, which must not move. False with a line that
 * names the option and says what it accepts. */
bool options_parse(int argc, char **argv, Options *options, Error *error);

/* options_compare.c: derives `compare` from the first run's settings, once they are known: for a FILE.redviz,
 * after it is open. Call once. */
bool options_compare(Options *options, const RunSpec *first, Error *error);

enum { OPTIONS_VARIANTS = 9 };
/* options_invariant.c: the runs that --invariant compares, from the first run's settings. Strings are in
 * `arena`. */
bool options_invariant(const Options *options, const RunSpec *first, Arena *arena,
                       AskVariant variants[OPTIONS_VARIANTS], int *count, Error *error);

/* options_together.c: checks that options which are valid alone can be combined, beside the rules of
 * options.def. */
bool options_check_together(const Options *options, Error *error);
/* --html and --handout select the action, unless something else is printed. */
void options_choose_page(Options *options);
/* options_exercise.c: takes the words of --exercise and --grade; and checks their combinations. */
bool options_take_exercise(Options *options, int count, char **words, Error *error);
bool options_check_exercise(const Options *options, Error *error);

/* The programs that take an option. */
typedef enum OptionPrograms { FOR_REDVIZ = 1, FOR_RECORD = 2, FOR_BOTH = 3 } OptionPrograms;

typedef struct OptionRow OptionRow;
struct OptionRow { /* of options.def */
    const char *name;
    const char *argument; /* as --help shows it: "N", "=text|json" (optional), NULL: takes none */
    bool (*take)(Options *options, const OptionRow *row, const char *value, Error *error);
    size_t field; /* of Options */
    const char *help;
    OptionPrograms programs;
    enum { ANY, RUN, CATALOGUE, USER_FILE, COMPILED } suits;
    Action action; /* for options that select one */
};

/* Option `index` of the program, in the order of --help; NULL past the last. *title: the title of the group
 * that starts with it, or NULL. */
const OptionRow *options_row(OptionPrograms program, int index, const char **title);
/* NULL: it has none of this name. FOR_BOTH: of either. */
const OptionRow *options_find(OptionPrograms program, const char *name, size_t length);

void options_print_help(OptionPrograms program, Text *out);

#endif
