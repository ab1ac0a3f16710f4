#define _XOPEN_SOURCE 700

#include "cli/exercise_open.h"

#include "base/language.h"
#include "cli/finish.h"
#include "cli/lecture_open.h"
#include "cli/translated_files.h"
#include "exercise/draw.h"
#include "exercise/grade_class.h"
#include "exercise/solved.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_FILES = 1000 };

static const TranslatedFolder FOLDER = {"assets/exercises", "exercise"};

static Exercise *open_named(const Options *options, const char *name, Error *error) {
    char path[TRANSLATED_PATH_BYTES];
    return translated_find(&FOLDER, name, cli_lecture_language(options), path, error)
               ? exercise_read(path, error)
               : NULL;
}

Exercise *cli_exercise_open(const Options *options, Error *error) {
    return open_named(options, options->exercise, error);
}

/* ---- list ---- */

static int by_order(const void *a, const void *b) {
    const Exercise *const *one = a, *const *other = b;
    return (*one)->order != (*other)->order ? (*one)->order - (*other)->order
                                            : strcmp((*one)->name, (*other)->name);
}

/* All, in their order; -1 with `error`: one cannot be read, and none is open. */
static int open_all(const Options *options, Exercise *exercises[TRANSLATED_MOST], Error *error) {
    char names[TRANSLATED_MOST][TRANSLATED_NAME_BYTES];
    int count = translated_names(&FOLDER, names, error), opened = 0;
    while (opened < count && (exercises[opened] = open_named(options, names[opened], error))) opened++;
    if (opened < count) {
        while (opened > 0) exercise_free(exercises[--opened]);
        return -1;
    }
    if (count > 0) qsort(exercises, (size_t)count, sizeof *exercises, by_order);
    return count;
}

bool cli_exercise_list(const Options *options, Text *out, Error *error) {
    Exercise *exercises[TRANSLATED_MOST];
    int count = open_all(options, exercises, error);
    if (count < 0) return false;
    char *solved = solved_read();
    for (int i = 0; i < count; i++) {
        const Exercise *exercise = exercises[i];
        text_print(out, "  [%c] %-20s %s\n", solved_has(solved, exercise->name) ? 'x' : ' ', exercise->name,
                   exercise->title);
        exercise_free(exercises[i]);
    }
    free(solved);
    text_add(out, count ? "\n[x] solved; redviz --exercise NAME opens one\n" : "no exercise is installed\n");
    return true;
}

/* The first unsolved one behind `exercise`; NULL: there is none. */
static const Exercise *next_unsolved(const Exercise *exercise, Exercise *const *all, int count,
                                     const char *solved) {
    for (int i = 0; i < count; i++)
        if (by_order(&all[i], &exercise) > 0 && !solved_has(solved, all[i]->name)) return all[i];
    return NULL;
}

void cli_exercise_print_next(const Options *options, const Exercise *exercise, const char *file) {
    char *solved = solved_read();
    Exercise *all[TRANSLATED_MOST];
    bool is_solved = solved_has(solved, exercise->name);
    int count = is_solved ? open_all(options, all, NULL) : 0;
    const Exercise *next = next_unsolved(exercise, all, count, solved);
    if (next)
        printf(tr("%s is solved; the next exercise: redviz --exercise %s"), exercise->name, next->name);
    else if (is_solved)
        printf(tr("%s is solved"), exercise->name);
    else
        printf(tr("%s keeps your work; redviz --exercise %s goes on with it"), file, exercise->name);
    putchar('\n');
    for (int i = 0; i < count; i++) exercise_free(all[i]);
    free(solved);
}

void cli_exercise_offer_open(const Options *options, OfferedExercises *out) {
    *out = (OfferedExercises){0};
    int count = open_all(options, out->exercises, NULL);
    for (int i = 0; i < count; i++) {
        out->names[i] = out->exercises[i]->name;
        out->titles[i] = out->exercises[i]->title;
        out->tasks[i] = out->exercises[i]->task;
    }
    out->rows = (ViewTitles){count < 0 ? 0 : count, out->names, out->titles, out->tasks};
}

void cli_exercise_offer_close(OfferedExercises *offered) {
    for (int i = 0; i < offered->rows.count; i++) exercise_free(offered->exercises[i]);
}

bool cli_exercise_check_lecture(const Lecture *lecture, Error *error) {
    char path[TRANSLATED_PATH_BYTES];
    for (int i = 0; i < lecture->stop_count; i++) {
        const LectureStop *stop = &lecture->stops[i];
        Error why = {0};
        if (stop->exercise && !translated_find(&FOLDER, stop->exercise, "en", path, &why))
            return error_set_at(error, lecture->path, stop->exercise_place.line, stop->exercise_place.column,
                                "%s", why.message);
    }
    return true;
}

/* ---- check ---- */

static GradeLimits limits_of(const Options *options) {
    return (GradeLimits){.instructions = options->session.instruction_budget,
                         .seconds = options->time_limit,
                         .threads = options->session.threads,
                         .compiler = options->session.compiler};
}

bool cli_exercise_check(const Options *options, Text *out, bool *failed, Error *error) {
    Exercise *exercise = cli_exercise_open(options, error);
    if (!exercise) return false;
    GradeLimits limits = limits_of(options);
    *failed = !grade_check_exercise(exercise, &limits, out);
    exercise_free(exercise);
    return true;
}

/* ---- grades ---- */

static int by_path(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The sources in a folder, by name; the file itself if it is none, also a missing one if it `may_lack`. -1
 * with `error`. */
static int list_submissions(const char *path, bool may_lack, char *files[MOST_FILES], Arena *arena,
                            Error *error) {
    int count = 0;
    DIR *folder = opendir(path);
    if (!folder && (errno == ENOTDIR || may_lack)) {
        files[0] = arena_copy_string(arena, path);
        return 1;
    }
    if (!folder) {
        error_set_at(error, path, 0, 0, "%s", strerror(errno));
        return -1;
    }
    for (struct dirent *entry; count < MOST_FILES && (entry = readdir(folder));)
        if (text_is_cuda_source(entry->d_name) || text_ends_with(entry->d_name, ".ptx"))
            files[count++] = arena_print(arena, "%s/%s", path, entry->d_name);
    closedir(folder);
    if (!count) error_set_at(error, path, 0, 0, "the folder has no FILE.cu or FILE.ptx");
    qsort(files, (size_t)count, sizeof *files, by_path);
    return count ? count : -1;
}

static bool grade_files(const Options *options, const Exercise *exercise, char *const *files, int count,
                        bool *failed, Error *error) {
    GradeLimits limits = limits_of(options);
    limits.refuses_start = true;
    limits.seed = options->session.catalog.seed ? options->session.catalog.seed : draw_seed();
    const GradeClass class = {exercise, &limits, files, count, options->grade, finish_print};
    bool passed = false, good = grade_class(&class, &passed, error);
    *failed = !passed;
    return good;
}

bool cli_exercise_grade(const Options *options, bool *failed, Error *error) {
    char *files[MOST_FILES];
    Arena arena = {0};
    *failed = false;
    bool has_mark = options->grade != GRADE_TEXT; /* for whoever reads it, a missing file is a mark of 0 */
    int count = list_submissions(options->submission, has_mark, files, &arena, error);
    Exercise *exercise = count < 0 ? NULL : cli_exercise_open(options, error);
    bool good = exercise != NULL;
    if (good && options->grade == GRADE_GRADESCOPE && count > 1)
        good = error_set(error, "--grade=gradescope: results.json is of one file");
    good = good && grade_files(options, exercise, files, count, failed, error);
    exercise_free(exercise);
    arena_done(&arena);
    return good;
}

/* ---- the learner's file ---- */

/* The task as comments, then the code. */
bool cli_exercise_write_start(const Exercise *exercise, const char *path, Error *error) {
    Text text = {0};
    text_print(&text, "// %s\n//\n", exercise->title);
    for (const char *at = exercise->task; *at;) {
        size_t length = strcspn(at, "\n");
        text_print(&text, "//%s%.*s\n", length ? " " : "", (int)length, at);
        at += length + (at[length] != 0);
    }
    text_print(&text, "\n%s", exercise->start);
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL, 0666);
    bool good = file >= 0 || errno == EEXIST || error_set_at(error, path, 0, 0, "%s", strerror(errno));
    if (file >= 0) {
        good = write(file, text_string(&text), text.length) == (ssize_t)text.length;
        good = close(file) == 0 && good;
        if (!good) error_set_at(error, path, 0, 0, "it could not be written");
    }
    text_done(&text);
    return good;
}
