/* Finds a lecture's file, and reads the options of its stops like a command line. */
#define _POSIX_C_SOURCE 200809L

#include "cli/lecture_open.h"

#include "catalog/catalog.h"
#include "lecture/claim.h"
#include "tui/draw/terminal_text.h"
#include "tui/view/keys.h"
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_BYTES = TRANSLATED_PATH_BYTES, NAME_BYTES = LECTURE_NAME_BYTES, OUTER_WORDS = 8 };

/* ---- files --------------------------------------------------------------------------------------------- */

static const TranslatedFolder FOLDER = {"assets/lectures", "lecture"};

const char *cli_lecture_language(const Options *options) {
    static char language[3];
    static const char *const variables[] = {"LC_ALL", "LC_MESSAGES", "LANG"};
    bool shows_chinese = options_writes_utf8(options) || terminal_shows_text("\u5f52\u7ea6");
    if (!shows_chinese) return "en";
    if (options->language) return options->language;
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *value = getenv(variables[i]);
        if (!value || !*value) continue;
        snprintf(language, sizeof language, "%.2s", value);
        return language;
    }
    return "en";
}

static bool find_file(const Options *options, char path[TRANSLATED_PATH_BYTES], Error *error) {
    return translated_find(&FOLDER, options->lecture, cli_lecture_language(options), path, error);
}

/* ---- options of a stop --------------------------------------------------------------------------------- */

/* Parses the first words of a stop's command line, after the words that apply to all stops. */
static bool parse_words(OpenLecture *open, int index, const Options *outer, int words, Error *error) {
    const LectureStop *stop = &open->lecture->stops[index];
    const char *all[OUTER_WORDS] = {"redviz"};
    static const char *const backends[] = {
        [BACKEND_AUTO] = "auto", [BACKEND_EMULATOR] = "emulator", [BACKEND_GPU] = "gpu"};
    int count = 1;
    char **argv = arena_new(&open->arena, (OUTER_WORDS + (size_t)words + 1) * sizeof *argv);
    if (outer->session.backend != BACKEND_AUTO) {
        all[count++] = "--backend";
        all[count++] = backends[outer->session.backend];
    }
    if (outer->session.machine) {
        all[count++] = "--machine";
        all[count++] = outer->session.machine;
    }
    for (int i = 0; i < count; i++) argv[i] = arena_copy_string(&open->arena, all[i]);
    for (int i = 0; i < words; i++) argv[count++] = arena_copy_string(&open->arena, stop->words[i].text);
    options_begin(&open->options[index]);
    return options_parse(count, argv, &open->options[index], error);
}

/* Assigns an error of the whole line to the first word with which it appears. */
static LecturePlace place_of_error(OpenLecture *open, int index, const Options *outer, const char *message) {
    const LectureStop *stop = &open->lecture->stops[index];
    for (int words = 1; words < stop->word_count; words++) {
        Error error = {0};
        if (!parse_words(open, index, outer, words, &error) && !strcmp(error.message, message))
            return stop->words[words - 1].place;
    }
    return stop->words[stop->word_count - 1].place;
}

static bool refuse_at(const OpenLecture *open, LecturePlace place, const char *message, Error *error) {
    Error why = {0};
    error_set(&why, "%s", message);
    return lecture_refuse(open->lecture, place, &why, error);
}

/* The word that contains an option's value or begins with it: "strided" in "--kernel strided" and
 * "--compare=strided,n=64". */
static LecturePlace place_of_value(const LectureStop *stop, const char *option, const char *value) {
    char joined[64];
    snprintf(joined, sizeof joined, "%s=", option);
    for (int i = 0; i < stop->word_count; i++) {
        const char *word = stop->words[i].text;
        bool follows = i > 0 && !strcmp(stop->words[i - 1].text, option);
        if (!strncmp(word, joined, strlen(joined)) || !strcmp(word, value) ||
            (follows && !strncmp(word, value, strlen(value))))
            return stop->words[i].place;
    }
    return stop->words[0].place;
}

/* Finds a file in the folder of the lecture. */
static bool find_beside(OpenLecture *open, const LectureStop *stop, const char **file, Error *error) {
    const char *path = open->lecture->path, *slash = strrchr(path, '/'), *name = *file;
    if (!name) return true;
    if (*name != '/' && slash)
        *file = arena_print(&open->arena, "%.*s%s", (int)(slash - path + 1), path, name);
    struct stat about;
    if (stat(*file, &about) == 0 && S_ISREG(about.st_mode) && access(*file, R_OK) == 0) return true;
    Error why = {0};
    error_set(&why, "%s cannot be read", *file);
    return lecture_refuse(open->lecture, place_of_value(stop, "--compare", name), &why, error);
}

static bool check_kernel(const OpenLecture *open, const LectureStop *stop, const char *option,
                         const char *kernel, Error *error) {
    Error why = {0};
    return !kernel || catalog_find(kernel, &why) ||
           lecture_refuse(open->lecture, place_of_value(stop, option, kernel), &why, error);
}

static bool read_options(OpenLecture *open, int index, const Options *outer, Error *error) {
    const LectureStop *stop = &open->lecture->stops[index];
    Options *options = &open->options[index];
    Error why = {0};
    if (!parse_words(open, index, outer, stop->word_count, &why)) {
        LecturePlace place = place_of_error(open, index, outer, why.message);
        return lecture_refuse(open->lecture, place, &why, error);
    }
    if (options->action != ACTION_OPEN || options->save || options->record_cast || options->watch ||
        options->has_lecture)
        return refuse_at(
            open, stop->words[0].place,
            "a stop is a screen of the interface: options that print, save or watch are not allowed here",
            error);
    /* A lecture may come from anywhere; these options would open any file and run any program. */
    bool runs_program = options->run || options->call || options->program_arguments;
    if (options->session.sources || options->session.compile_flags || runs_program)
        return refuse_at(open, stop->words[0].place,
                         runs_program
                             ? "a lecture runs no program: --run, --call and -- are for the reader"
                             : "--sources and --compile-flags are for the reader: they are not allowed here",
                         error);
    if (!find_beside(open, stop, &options->session.file, error) ||
        !find_beside(open, stop, &options->session.saved, error) ||
        (options->has_compare && !find_beside(open, stop, &options->compare.file, error)))
        return false;
    if (options->keys && !key_script_check(options->keys, &why))
        return lecture_refuse(open->lecture, place_of_value(stop, "--keys", options->keys), &why, error);
    return check_kernel(open, stop, "--kernel", options->session.kernel, error) &&
           (!options->has_compare || check_kernel(open, stop, "--compare", options->compare.kernel, error));
}

/* The words without keys and step. */
static const char *run_text(OpenLecture *open, const LectureStop *stop) {
    Text text = {0};
    for (int i = 0; i < stop->word_count; i++) {
        const char *word = stop->words[i].text;
        bool is_place = !strncmp(word, "--keys", 6) || !strncmp(word, "--step", 6);
        if (is_place && !strchr(word, '=')) i++;
        if (!is_place) text_print(&text, "%s ", word);
    }
    const char *copy = arena_copy_string(&open->arena, text_string(&text));
    text_done(&text);
    return copy;
}

static void make_screen(OpenLecture *open, int index) {
    const Options *options = &open->options[index];
    open->screens[index] = (LectureScreen){.is_set = true,
                                           .run = run_text(open, &open->lecture->stops[index]),
                                           .session = &options->session,
                                           .compare = options->has_compare ? &options->compare : NULL,
                                           .keys = options->keys,
                                           .step = options->step};
}

/* Checks the form of claims, answers and keys. */
static bool check_form(const OpenLecture *open, const LectureStop *stop, Error *error) {
    const char *path = open->lecture->path;
    double value;
    Error why = {0};
    for (int i = 0; i < stop->claim_count; i++) {
        ClaimResult result;
        bool good = claim_evaluate(&stop->claims[i], path, NULL, &result, error);
        claim_result_done(&result);
        if (!good) return false;
    }
    const LectureQuestion *question = stop->question;
    if (!question) return true;
    if (*question->answer.text && !claim_number(&question->answer, path, NULL, &value, error)) return false;
    return !question->keys || key_script_check(question->keys, &why) ||
           lecture_refuse(open->lecture, question->keys_place, &why, error);
}

static bool read_stops(OpenLecture *open, const Options *outer, Error *error) {
    Lecture *lecture = open->lecture;
    size_t count = (size_t)lecture->stop_count;
    open->options = memory_new(count * sizeof *open->options);
    open->screens = memory_new(count * sizeof *open->screens);
    for (int i = 0; i < lecture->stop_count; i++) {
        const LectureStop *stop = &lecture->stops[i];
        if (stop->has_command && !read_options(open, i, outer, error)) return false;
        if (stop->has_command) make_screen(open, i);
        if (!check_form(open, stop, error)) return false;
    }
    return true;
}

/* Stops before the first screen show the first screen. */
static void show_from_start(OpenLecture *open) {
    int first = 0;
    while (!open->screens[first].is_set) first++;
    if (first) open->screens[0] = open->screens[first];
}

bool cli_lecture_open(const Options *options, OpenLecture *out, Error *error) {
    char path[PATH_BYTES];
    *out = (OpenLecture){0};
    if (!find_file(options, path, error) || !(out->lecture = lecture_read(path, error))) return false;
    if (!read_stops(out, options, error)) {
        cli_lecture_close(out);
        return false;
    }
    show_from_start(out);
    out->run = (LectureRun){out->lecture, out->screens, !options->no_predict};
    return true;
}

void cli_lecture_close(OpenLecture *open) {
    lecture_free(open->lecture);
    free(open->options);
    free(open->screens);
    arena_done(&open->arena);
    *open = (OpenLecture){0};
}

/* ---- languages ----------------------------------------------------------------------------------------- */

bool cli_lecture_check_languages(const OpenLecture *open, Error *error) {
    const char *path = open->lecture->path, *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;
    char name[NAME_BYTES], language[NAME_BYTES], other_name[NAME_BYTES], folder_path[PATH_BYTES];
    if (!translated_split(file, name, language)) return true;
    snprintf(folder_path, sizeof folder_path, "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
    DIR *folder = opendir(folder_path);
    bool same = true;
    for (struct dirent *entry; folder && same && (entry = readdir(folder));) {
        if (!translated_split(entry->d_name, other_name, language) || strcmp(name, other_name) != 0 ||
            !strcmp(entry->d_name, file))
            continue;
        char other_path[2 * PATH_BYTES];
        snprintf(other_path, sizeof other_path, "%s/%s", folder_path, entry->d_name);
        Lecture *other = lecture_read(other_path, error);
        same = other && lecture_is_same(open->lecture, other, error);
        lecture_free(other);
    }
    if (folder) closedir(folder);
    return same;
}

int cli_lecture_names(char names[LECTURES_MOST][LECTURE_NAME_BYTES], Error *error) {
    return translated_names(&FOLDER, names, error);
}

Lecture *cli_lecture_read_named(const Options *options, const char *name, Error *error) {
    char path[PATH_BYTES];
    Options one = *options;
    one.lecture = name;
    return find_file(&one, path, error) ? lecture_read(path, error) : NULL;
}

/* Lists one lecture per line, in the reader's language if available. */
bool cli_lecture_list(const Options *options, Text *out, Error *error) {
    char names[LECTURES_MOST][NAME_BYTES];
    int count = cli_lecture_names(names, error);
    if (count < 0) return false;
    for (int i = 0; i < count; i++) {
        Lecture *lecture = cli_lecture_read_named(options, names[i], error);
        if (!lecture) return false;
        text_print(out, "  %-10s %s\n             %d stop%s, %d minute%s; needs: %s\n", names[i],
                   lecture->title, lecture->stop_count, lecture->stop_count == 1 ? "" : "s", lecture->minutes,
                   lecture->minutes == 1 ? "" : "s", lecture->needs);
        lecture_free(lecture);
    }
    text_add(out, count ? "\nredviz --lecture NAME plays one\n" : "no lecture is installed\n");
    return true;
}
