/* Settings: the options of a run, changed in one row while its picture follows: n, block size, type,
 * operation, input, seed, the kernel's parameters. Every change is checked at once against the kernel's own
 * rules, so that impossible settings are reported before anything runs. */
#ifndef TUI_VIEW_SETTINGS_H
#define TUI_VIEW_SETTINGS_H

#include "tui/view/keys.h"
#include "tui/scene/figures.h"

typedef enum SettingKind {
    SETTING_N,
    SETTING_BLOCK,
    SETTING_GRID,      /* 0: the kernel chooses */
    SETTING_CLUSTER,   /* blocks; 0: what the entry requires, or no clusters */
    SETTING_ARGUMENTS, /* a text */
    SETTING_TYPE,
    SETTING_OPERATION,
    SETTING_FILL, /* a FillKind; -1: the default, or see is_file */
    SETTING_SEED,
    SETTING_PARAMETER, /* the first parameter */
    SETTING_COUNT = SETTING_PARAMETER + CATALOG_PARAMETERS
} SettingKind;

typedef struct Settings {
    /* NULL: outside the catalogue; only n, block, grid, cluster, arguments, input, seed */
    const CatalogRow *row;
    int64_t value[SETTING_COUNT]; /* of the settings that are numbers, and the fill */
    uint32_t block_yz[2];         /* of a file's launch: they stay */
    PtxType type;
    const char *op; /* "sum", ... */
    bool is_file;   /* the input comes from a file, until another is chosen */
    bool prefers_digits;
    char arguments[256]; /* --args of a kernel outside the catalogue, or --launch if is_launch */
    bool is_launch;      /* --launch has its own blocks, grids and clusters */
    bool is_read;        /* they come from the file's host code */
    /* they are guessed; arguments too long for the field count as guessed and are passed on */
    bool is_guessed;
    int choice;        /* the setting being edited */
    char typed[24];    /* a number being typed into it; "": none */
    bool is_edited;    /* the arguments were typed into, and the run does not have them yet */
    bool is_running;   /* the run with these settings is still being made */
    char error[192];   /* why there is no run with these settings; "": there is one, or there will be */
    RunFigures before; /* of the run at which the settings were opened */
    bool has_changed;  /* another run has taken its place */
} Settings;

/* SETTINGS_RUN: a value has changed, and the kernel accepts it; Enter also closes. */
typedef enum SettingsAnswer { SETTINGS_STAY, SETTINGS_CLOSE, SETTINGS_RUN } SettingsAnswer;

/* The settings of the current run; the kernel's first parameter is chosen, else n. */
void settings_init(Settings *settings, const Scene *scene);
/* The same while they are being edited: the chosen setting and the typed number stay. */
void settings_follow(Settings *settings, const Scene *scene);

int settings_count(const Settings *settings);
typedef struct SettingText {
    char name[24], value[256], hint[160];
} SettingText;
/* The texts of setting `index`; the hint lists the possible values. */
void settings_print(const Settings *settings, int index, SettingText *out);

SettingsAnswer settings_press(Settings *settings, Key key);

/* The options `made_with` of the current run, with these settings. New strings are in the arena. */
RunSpec settings_options(const Settings *settings, const RunSpec *made_with, Arena *arena);
/* The settings in which two runs of one kernel differ: "block 256 : 128". "": none. */
void settings_print_differences(const Scene *left, const Scene *right, char *out, size_t bytes);

#endif
