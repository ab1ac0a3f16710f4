#define _XOPEN_SOURCE 700

#include "edit.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- where --------------------------------------------------------------------------------------------- */

static bool same_file(const char *a, const char *b) {
    struct stat first, second;
    return !strcmp(a, b) || (!stat(a, &first) && !stat(b, &second) && first.st_dev == second.st_dev &&
                             first.st_ino == second.st_ino);
}

EditPlace edit_place(const char *const *files, int count, const Scene *scene, const View *view) {
    const Steps *steps = view_steps(view, scene);
    EditPlace place = {files[0], 1};
    if (!steps || view->place.step >= steps->step_count) return place;
    const PtxCode *code = scene_code(scene, view->place.block, steps->steps[view->place.step].pc);
    if (!code) return place;
    if (text_ends_with(files[0], ".ptx")) { /* its own lines, not those of the source it was compiled from */
        place.line = code->instruction->line ? code->instruction->line : 1;
        return place;
    }
    for (int i = 0; i < count && code->line.file; i++)
        if (same_file(files[i], code->line.file)) return (EditPlace){files[i], code->line.line};
    return place;
}

/* ---- the editor ---------------------------------------------------------------------------------------- */

static const char *chosen_program(void) {
    static const char *const variables[] = {"VISUAL", "EDITOR"};
    for (int i = 0; i < 2; i++) {
        const char *value = getenv(variables[i]);
        if (value && *value) return value;
    }
    return NULL;
}

static bool is_installed(const char *name) {
    const char *at = getenv("PATH");
    while (at && *at) {
        char path[PATH_MAX];
        int length = (int)strcspn(at, ":");
        int whole = snprintf(path, sizeof path, "%.*s/%s", length, at, name);
        if (length && whole < (int)sizeof path && access(path, X_OK) == 0) return true;
        at += length + (at[length] == ':');
    }
    return false;
}

const char *edit_program(void) {
    const char *chosen = chosen_program();
    return chosen ? chosen : is_installed("nano") ? "nano" : "vi";
}

bool edit_needs_words(void) {
    return !chosen_program() && !strcmp(edit_program(), "vi");
}

/* How the line is given: "+12 FILE" to most editors. */
typedef enum LineWay { LINE_PLUS, LINE_COLON, LINE_GOTO, LINE_NONE } LineWay;

static LineWay line_way(const char *program) {
    static const struct {
        const char *name;
        LineWay way;
    } others[] = {{"code", LINE_GOTO}, {"codium", LINE_GOTO}, {"cursor", LINE_GOTO}, /* --goto FILE:12 */
                  {"hx", LINE_COLON},  {"subl", LINE_COLON},  {"zed", LINE_COLON},   /* FILE:12 */
                  {"ed", LINE_NONE}};                                                /* before 1.20 */
    size_t length = strcspn(program, " ");
    const char *name = program + length;
    while (name > program && name[-1] != '/') name--;
    length -= (size_t)(name - program);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strlen(others[i].name) == length && !memcmp(name, others[i].name, length)) return others[i].way;
    return LINE_PLUS;
}

/* The shell splits the program's text, which the user wrote for a shell; it never interprets file and
 * line. */
char **edit_command(EditPlace place) {
    enum { ARGUMENTS = 8 };
    const char *program = edit_program();
    LineWay way = line_way(program);
    size_t file_bytes = strlen(place.file) + 32, script_bytes = strlen(program) + 16;
    char **command = memory_new(ARGUMENTS * sizeof(char *) + 2 * file_bytes + script_bytes);
    char *script = (char *)(command + ARGUMENTS), *first = script + script_bytes,
         *second = first + file_bytes;
    snprintf(script, script_bytes, "exec %s \"$@\"", program);
    int count = 0;
    command[count++] = "/bin/sh";
    command[count++] = "-c";
    command[count++] = script;
    command[count++] = "sh";
    if (way == LINE_GOTO) command[count++] = "--goto";
    /* keep it from being read as an option */
    const char *here = place.file[0] == '-' || place.file[0] == '+' ? "./" : "";
    bool is_joined = way == LINE_COLON || way == LINE_GOTO;
    if (is_joined)
        snprintf(first, file_bytes, "%s%s:%d", here, place.file, place.line);
    else
        snprintf(first, file_bytes, "+%d", place.line);
    snprintf(second, file_bytes, "%s%s", here, place.file);
    if (way != LINE_NONE) command[count++] = first;
    if (!is_joined) command[count++] = second;
    return command;
}

/* ---- changes ------------------------------------------------------------------------------------------- */

typedef struct Stamp {
    char *file;
    bool is_there;
    dev_t device;
    ino_t number;
    off_t bytes;
    struct timespec changed;
} Stamp;

struct FileWatch {
    Stamp *stamps;
    int count;
};

static void look(Stamp *stamp) {
    struct stat now;
    Stamp seen = {.file = stamp->file};
    if (!stat(stamp->file, &now)) {
        seen.is_there = true;
        seen.device = now.st_dev;
        seen.number = now.st_ino;
        seen.bytes = now.st_size;
        seen.changed = now.st_mtim;
    }
    *stamp = seen;
}

static bool same_stamp(const Stamp *a, const Stamp *b) {
    return a->is_there == b->is_there && a->device == b->device && a->number == b->number &&
           a->bytes == b->bytes && a->changed.tv_sec == b->changed.tv_sec &&
           a->changed.tv_nsec == b->changed.tv_nsec;
}

FileWatch *file_watch_new(const char *const *files, int count) {
    FileWatch *watch = memory_new(sizeof *watch);
    watch->stamps = memory_new((size_t)count * sizeof *watch->stamps);
    watch->count = count;
    for (int i = 0; i < count; i++) {
        size_t bytes = strlen(files[i]) + 1;
        watch->stamps[i].file = memcpy(memory_new(bytes), files[i], bytes);
        look(&watch->stamps[i]);
    }
    return watch;
}

void file_watch_free(FileWatch *watch) {
    if (!watch) return;
    for (int i = 0; i < watch->count; i++) free(watch->stamps[i].file);
    free(watch->stamps);
    free(watch);
}

bool file_watch_changed(FileWatch *watch) {
    bool changed = false;
    for (int i = 0; i < watch->count; i++) {
        Stamp before = watch->stamps[i];
        look(&watch->stamps[i]);
        changed |= !same_stamp(&before, &watch->stamps[i]);
    }
    return changed;
}

void file_watch_follow(FileWatch *watch, const FileWatch *from) {
    for (int i = 0; i < watch->count; i++)
        for (int j = 0; j < from->count; j++) {
            if (strcmp(watch->stamps[i].file, from->stamps[j].file) != 0) continue;
            Stamp stamp = from->stamps[j];
            stamp.file = watch->stamps[i].file;
            watch->stamps[i] = stamp;
        }
}
