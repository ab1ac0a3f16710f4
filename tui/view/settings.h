/* Settings: the options of a run, to be changed in place: n, block size, type, operation, input, seed, the
 * kernel's parameters. Every change is checked against the kernel's own rules at once, so that impossible
 * settings are reported before anything runs. */
#ifndef TUI_VIEW_SETTINGS_H
#define TUI_VIEW_SETTINGS_H

#include "tui/view/keys.h"
#include "tui/scene/scene.h"

typedef struct Settings {
    const CatalogRow
        *row; /* NULL: outside the catalogue; only n, block, grid, cluster, arguments, input, seed */
    uint64_t n, seed;
    uint32_t block, grid; /* grid 0: the kernel chooses */
    uint32_t cluster;     /* blocks; 0: what the entry asks for, or the kernel has no clusters */
    PtxType type;
    const char *op; /* "sum", ... */
    int fill;       /* a FillKind; -1: the default, or: */
    bool is_file;   /* the input comes from a file, until another is chosen */
    bool prefers_digits;
    int64_t parameters[CATALOG_PARAMETERS];
    char arguments[256]; /* --args of a kernel outside the catalogue */
    bool is_read;        /* the file's host code says them */
    bool is_guessed; /* the arguments are; one too long for the field counts as guessed and is passed on */
    int choice;      /* the row that the keys change */
    char typed[24];  /* a number being typed into it; "": none */
    char error[192]; /* why these are not possible; "": they are */
} Settings;

typedef enum SettingsAnswer { SETTINGS_STAY, SETTINGS_CLOSE, SETTINGS_APPLY } SettingsAnswer;

/* Those of the current run. */
void settings_init(Settings *settings, const Scene *scene);

int settings_count(const Settings *settings);
typedef struct SettingText {
    char name[24], value[256], hint[160];
} SettingText;
/* The texts of row `index`; the hint says which values are possible. */
void settings_print(const Settings *settings, int index, SettingText *out);

SettingsAnswer settings_press(Settings *settings, Key key);

/* The options `made_with` of the current run, changed to these settings. New strings are in the arena. */
SessionOptions settings_options(const Settings *settings, const SessionOptions *made_with, Arena *arena);
/* The settings in which two runs of one kernel differ: "block 256 : 128". "": none. */
void settings_print_differences(const Scene *left, const Scene *right, char *out, size_t bytes);

#endif
