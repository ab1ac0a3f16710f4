/* The command line: options.def is the table, the functions here read the values, options_parse() checks the
 * whole line. */
#include "ask/ask.h"
#include "cli/options.h"

#include "base/number.h"
#include "tui/view/view.h"
#include <getopt.h>
#include <limits.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>

/* ---- values -------------------------------------------------------------------------------------------- */

static bool number_int(const OptionRow *row, const char *value, int minimum, int maximum, int *out,
                       Error *error) {
    uint64_t wide = 0;
    bool ok = number_parse_option(row->name, value, (uint64_t)minimum, (uint64_t)maximum, &wide, error);
    if (ok) *out = (int)wide;
    return ok;
}

/* True if the value is one of the words of the row's argument; *index: its number. The word "file:PATH"
 * stands for any path. */
static bool choose(const OptionRow *row, const char *value, int *index, Error *error) {
    const char *words = row->argument + (*row->argument == '=');
    *index = 0;
    for (const char *word = words;; (*index)++) {
        size_t length = strcspn(word, "|");
        if (strlen(value) == length && memcmp(word, value, length) == 0) return true;
        if (length == 9 && !memcmp(word, "file:PATH", 9) && !strncmp(value, "file:", 5) && value[5])
            return true;
        word += length;
        if (!*word++) break;
    }
    Text list = {0};
    for (const char *at = words; *at; at++) text_add_bytes(&list, *at == '|' ? ", " : at, *at == '|' ? 2 : 1);
    error_set(error, "--%s: '%s' is not one of %s", row->name, value, text_string(&list));
    text_done(&list);
    return false;
}

/* ---- the functions of options.def ---------------------------------------------------------------------- */

static bool take_action(Options *options, const OptionRow *row, const char *value, Error *error) {
    (void)value;
    if (options->action_name && strcmp(options->action_name, row->name) != 0)
        return error_set(error, "--%s and --%s print different things: give one of them",
                         options->action_name, row->name);
    options->action = row->action;
    options->action_name = row->name;
    return true;
}

/* The three that fill the field of their row. */
static bool take_flag(Options *options, const OptionRow *row, const char *value, Error *error) {
    *(bool *)((char *)options + row->field) = true;
    return row->action == ACTION_OPEN || take_action(options, row, value, error);
}

static bool take_text(Options *options, const OptionRow *row, const char *value, Error *error) {
    *(const char **)((char *)options + row->field) = value;
    return row->action == ACTION_OPEN || take_action(options, row, value, error);
}

static bool take_word(Options *options, const OptionRow *row, const char *value, Error *error) {
    int word;
    return choose(row, value, &word, error) && take_text(options, row, value, error);
}

static bool take_text_or_json(Options *options, const OptionRow *row, const char *value, Error *error) {
    int form = 0;
    if (value && !choose(row, value, &form, error)) return false;
    if (value) options->json = form == 1;
    return take_action(options, row, value, error);
}

static bool take_gpus(Options *options, const OptionRow *row, const char *value, Error *error) {
    return number_int(row, value, 1, 64, &options->gpus, error);
}

static bool take_sass(Options *options, const OptionRow *row, const char *value, Error *error) {
    options->session.measure_sass = true;
    return take_text_or_json(options, row, value, error);
}

static bool take_timeline(Options *options, const OptionRow *row, const char *value, Error *error) {
    int form = WARPS_TEXT;
    if (value && !choose(row, value, &form, error)) return false;
    options->timeline = (SessionWarpsForm)form;
    options->session.times_warps = options->session.keep_inputs = true;
    if (options->action == ACTION_VERIFY && !value) return true; /* which compares it */
    return take_action(options, row, value, error);
}

static bool take_timeline_sites(Options *options, const OptionRow *row, const char *value, Error *error) {
    int word;
    if (!choose(row, value, &word, error)) return false;
    *(word ? &options->session.times_lines : &options->session.times_shared) = true;
    return true;
}

static bool take_residency(Options *options, const OptionRow *row, const char *value, Error *error) {
    RunSpec *session = &options->session;
    session->residency_count = 0;
    for (const char *at = value;; at++) {
        uint64_t blocks;
        if (session->residency_count == SESSION_RESIDENCIES || !number_read(&at, &blocks) || !blocks ||
            blocks > 64 || (*at && *at != ','))
            return error_set(error, "--%s: '%s' is not up to %d numbers from 1 to 64", row->name, value,
                             SESSION_RESIDENCIES);
        session->residencies[session->residency_count++] = (uint32_t)blocks;
        if (!*at) return true;
    }
}

static bool take_check(Options *options, const OptionRow *row, const char *value, Error *error) {
    bool is_log = value && (!strcmp(value, "sarif") || !strcmp(value, "junit"));
    options->check_log = is_log ? value : NULL;
    return take_text_or_json(options, row, value, error);
}

static bool take_tool(Options *options, const OptionRow *row, const char *value, Error *error) {
    static const CheckTool tools[] = {TOOL_MEMCHECK, TOOL_RACECHECK, TOOL_INITCHECK, TOOL_SYNCCHECK};
    int word;
    if (!choose(row, value, &word, error)) return false;
    options->tool = tools[word];
    return true;
}

static bool take_kernel_name(Options *options, const OptionRow *row, const char *value, Error *error) {
    Error why = {0};
    options->launches.kernel = value;
    return launch_choice_check(value, &why) || error_set(error, "--%s: %s", row->name, why.message);
}

static bool take_launch_count(Options *options, const OptionRow *row, const char *value, Error *error) {
    return number_int(row, value, 0, INT_MAX, (int *)((char *)options + row->field), error);
}

static bool take_error_exit(Options *options, const OptionRow *row, const char *value, Error *error) {
    return number_int(row, value, 0, 255, &options->error_exit, error);
}

static bool take_bench(Options *options, const OptionRow *row, const char *value, Error *error) {
    options->tsv = value && !strcmp(value, "tsv");
    options->grid = value && !strcmp(value, "grid");
    options->bench_sass = value && !strcmp(value, "sass");
    if (!options->records && (options->tsv || options->grid || options->bench_sass))
        return error_set(error, "--bench=%s is redviz-record's: build/redviz-record --bench=%s", value,
                         value);
    return take_text_or_json(options, row, value, error);
}

static bool take_frame(Options *options, const OptionRow *row, const char *value, Error *error) {
    enum { LARGEST = 1000 };
    if (value) {
        uint64_t columns = 0, rows = 0;
        const char *cursor = value;
        bool ok = number_read_digits(&cursor, &columns) && *cursor++ == 'x' &&
                  number_read_digits(&cursor, &rows) && !*cursor;
        if (!ok || columns < 1 || columns > LARGEST || rows < 1 || rows > LARGEST)
            return error_set(error, "--frame: '%s' is not COLUMNSxROWS, like 120x40 (each up to %d)", value,
                             LARGEST);
        options->frame_columns = (int)columns;
        options->frame_rows = (int)rows;
    }
    return take_action(options, row, value, error);
}

static bool take_pace(Options *options, const OptionRow *row, const char *value, Error *error) {
    int word;
    if (!choose(row, value, &word, error)) return false;
    options->pace = SPEED_SLOWEST + word;
    return true;
}

static bool take_theme(Options *options, const OptionRow *row, const char *value, Error *error) {
    int word;
    return choose(row, value, &word, error) && theme_find(value, &options->theme);
}

static bool take_exercise(Options *options, const OptionRow *row, const char *value, Error *error) {
    (void)row, (void)error;
    options->has_exercise = true;
    options->exercise = value;
    return true;
}

static bool take_grade(Options *options, const OptionRow *row, const char *value, Error *error) {
    int form = GRADE_TEXT;
    if (value && !choose(row, value, &form, error)) return false;
    options->grade = (GradeForm)form;
    options->grades = true;
    return take_action(options, row, value, error);
}

static bool take_index(Options *options, const OptionRow *row, const char *value, Error *error) {
    options->has_index = true;
    if (value && options->index[1])
        return error_set(error, "--%s: the lab compares two expressions, '%s' is a third", row->name, value);
    if (value) options->index[options->index[0] != NULL] = value;
    return true;
}

static bool take_lecture(Options *options, const OptionRow *row, const char *value, Error *error) {
    (void)row, (void)error;
    options->has_lecture = true;
    options->lecture = value;
    return true;
}

static bool take_stop(Options *options, const OptionRow *row, const char *value, Error *error) {
    return number_int(row, value, 1, 1000, &options->stop, error);
}

/* An option of the run. */
static bool take_setting(Options *options, const OptionRow *row, const char *value, Error *error) {
    return run_spec_set(&options->session, row->name, value, error);
}

static bool take_backend(Options *options, const OptionRow *row, const char *value, Error *error) {
    static const SessionBackend backends[] = {BACKEND_AUTO, BACKEND_EMULATOR, BACKEND_GPU};
    int word;
    if (!choose(row, value, &word, error)) return false;
    options->session.backend = backends[word];
    return true;
}

static bool take_step(Options *options, const OptionRow *row, const char *value, Error *error) {
    return number_int(row, value, 1, INT_MAX, &options->step, error);
}

static bool take_threads(Options *options, const OptionRow *row, const char *value, Error *error) {
    return number_int(row, value, 1, 1024, &options->session.threads, error);
}

static bool take_max_instructions(Options *options, const OptionRow *row, const char *value, Error *error) {
    return number_parse_option(row->name, value, 1, UINT64_MAX, &options->session.instruction_budget, error);
}

static bool take_sources(Options *options, const OptionRow *row, const char *value, Error *error) {
    struct stat about;
    options->session.sources = value;
    if (stat(value, &about) == 0 && S_ISDIR(about.st_mode)) return true;
    return error_set(error, "--%s: '%s' is not a folder", row->name, value);
}

static bool take_shared(Options *options, const OptionRow *row, const char *value, Error *error) {
    uint64_t bytes = 0;
    enum { LARGEST = 227 << 10 }; /* the most that any architecture permits */
    if (!number_parse_option(row->name, value, 0, LARGEST, &bytes, error)) return false;
    options->session.shared_bytes = (uint32_t)bytes;
    options->session.has_shared = true;
    return true;
}

static bool take_what_if(Options *options, const OptionRow *row, const char *value, Error *error) {
    int word;
    if (!choose(row, value, &word, error)) return false;
    options->has_what_if = true;
    options->what_if = word == 0 ? ASK_PAD : word == 1 ? ASK_SWIZZLE : ASK_NEXT;
    return true;
}

/* Only its ending distinguishes FILE.redviz from a kernel. */
static bool take_save(Options *options, const OptionRow *row, const char *value, Error *error) {
    const char *slash = strrchr(value, '/'), *name = slash ? slash + 1 : value;
    if (!text_ends_with(name, ".redviz") || !strcmp(name, ".redviz"))
        return error_set(error, "--%s: '%s' does not end in .redviz, like run.redviz%s", row->name, value,
                         options->action == ACTION_CHECK ? "; --check=sarif > FILE writes a log" : "");
    options->save = value;
    return true;
}

/* Only its ending distinguishes a page from its source file. */
static bool take_html(Options *options, const OptionRow *row, const char *value, Error *error) {
    if (!text_ends_with(value, ".html"))
        return error_set(error, "--%s: '%s' does not end in .html, like run.html", row->name, value);
    options->html = value;
    return true;
}

static bool take_handout(Options *options, const OptionRow *row, const char *value, Error *error) {
    if (!text_ends_with(value, ".html") && !text_ends_with(value, ".md"))
        return error_set(error, "--%s: '%s' ends neither in .md nor in .html", row->name, value);
    options->handout = value;
    return true;
}

/* The second run is derived from the first, so it is read after all other options. */
static bool take_compare(Options *options, const OptionRow *row, const char *value, Error *error) {
    size_t length = strlen(value);
    if (!length || length >= sizeof options->compare_items)
        return error_set(error, "--%s: '%.40s' is not NAME[,OPTION=VALUE...], like strided,block=128",
                         row->name, value);
    options->has_compare = true;
    memcpy(options->compare_items, value, length + 1);
    return true;
}

/* The runs are derived from the first, so they are read after all other options. */
static bool take_invariant(Options *options, const OptionRow *row, const char *value, Error *error) {
    if (!strchr(value, '='))
        return error_set(error, "--%s: '%.40s' is not OPTION=VALUE[,VALUE...], like block=256,1024",
                         row->name, value);
    options->invariant = value;
    return take_action(options, row, NULL, error);
}

/* A list of numbers is for --call. */
static bool take_n(Options *options, const OptionRow *row, const char *value, Error *error) {
    options->sizes = strchr(value, ',') ? value : NULL;
    return options->sizes || take_setting(options, row, value, error);
}

static bool take_time_limit(Options *options, const OptionRow *row, const char *value, Error *error) {
    int seconds;
    bool good = number_int(row, value, 1, 1000000, &seconds, error);
    if (good) options->time_limit = seconds;
    return good;
}

static bool take_verify(Options *options, const OptionRow *row, const char *value, Error *error) {
    options->session.keep_inputs = true;
    if (options->action == ACTION_TIMELINE && options->timeline == WARPS_TEXT) options->action_name = NULL;
    return take_action(options, row, value, error);
}

static bool take_counters(Options *options, const OptionRow *row, const char *value, Error *error) {
    (void)row, (void)value, (void)error;
    options->session.counters = COUNTERS_ASKED;
    return true;
}

#define GROUP(title)
#define NEEDS(option)
#define WITHOUT(why, options)
#define AT(field) offsetof(Options, field)
#define NONE      0
#define OPTION(name, argument, take, field, programs, suits, action, help)                                   \
    {name, argument, take, field, help, FOR_##programs, suits, ACTION_##action},
static const OptionRow OPTIONS[] = {
#include "cli/options.def"
};
#undef OPTION
#undef GROUP
enum { OPTION_COUNT = sizeof OPTIONS / sizeof *OPTIONS, FIRST_VALUE = 256 };
_Static_assert((int)OPTION_COUNT <= (int)OPTIONS_MOST, "Options.given is too small");

/* The lines of options.def: the title of a group, an option, or a rule for the option above. */
#undef NEEDS
#undef WITHOUT
#define GROUP(text)              {.title = text},
#define OPTION(...)              {.title = NULL},
#define NEEDS(option)            {.needs = option},
#define WITHOUT(reason, options) {.why = reason, .without = options},
static const struct DefinedLine {
    const char *title, *needs, *why, *without;
} LINES[] = {
#include "cli/options.def"
};
#undef OPTION
#undef GROUP
#undef NEEDS
#undef WITHOUT
enum { LINE_COUNT = sizeof LINES / sizeof *LINES };

static bool is_rule(const struct DefinedLine *line) {
    return line->needs || line->without;
}

const OptionRow *options_row(OptionPrograms program, int index, const char **title) {
    const OptionRow *row = OPTIONS;
    *title = NULL;
    for (const struct DefinedLine *line = LINES; line < LINES + LINE_COUNT; line++) {
        if (line->title) {
            *title = line->title;
        } else if (!is_rule(line) && row++->programs & program) {
            if (!index--) return row - 1;
            *title = NULL;
        }
    }
    return NULL;
}

const OptionRow *options_find(OptionPrograms program, const char *name, size_t length) {
    for (int i = 0; i < OPTION_COUNT; i++)
        if (OPTIONS[i].programs & program && strlen(OPTIONS[i].name) == length &&
            !memcmp(OPTIONS[i].name, name, length))
            return &OPTIONS[i];
    return NULL;
}

/* ---- the whole line ------------------------------------------------------------------------------------ */

static OptionPrograms program_of(const Options *options) {
    return options->records ? FOR_RECORD : FOR_REDVIZ;
}

static bool is_given(const Options *options, const char *name, size_t length) {
    const OptionRow *row = options_find(program_of(options), name, length);
    return row && options->given[row - OPTIONS];
}

static bool refuse_pair(const struct DefinedLine *line, int length, const char *other, Error *error) {
    int before = (int)strcspn(line->why, "@");
    if (!line->why[before]) return error_set(error, "%s", line->why);
    return error_set(error, "%.*s--%.*s%s", before, line->why, length, other, line->why + before + 1);
}

/* The rules of options.def. */
static bool check_rules(const Options *options, Error *error) {
    int option = -1;
    for (const struct DefinedLine *line = LINES; line < LINES + LINE_COUNT; line++) {
        option += !is_rule(line) && !line->title;
        if (!is_rule(line) || !options->given[option]) continue;
        if (line->needs && !is_given(options, line->needs, strlen(line->needs)))
            return error_set(error, "--%s goes with --%s", OPTIONS[option].name, line->needs);
        for (const char *other = line->without; other && *other; other += strspn(other, " ")) {
            size_t length = strcspn(other, " ");
            if (is_given(options, other, length)) return refuse_pair(line, (int)length, other, error);
            other += length;
        }
    }
    return true;
}

/* What to do instead of an option of compute-sanitizer; NULL: it has none of this name. */
static const char *foreign_option(const char *name) {
    static const struct {
        const char *name, *instead;
    } others[] = {
        {"leak-check", "--check reports what malloc() of a kernel never frees without being asked"},
        {"print-limit", "--check prints every cause once"},
        {"log-file", "write the output to a file with > FILE, or a log with --check=sarif > FILE"},
        {"target-processes", "--check checks every process that the command starts"},
        {"racecheck-report", "--check prints each race with both accesses"},
        {"show-backtrace", "--check names the lines of an error, and where an inlined function is called"},
        {"xml", "write a log with --check=sarif or --check=junit > FILE"},
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (!strcmp(others[i].name, name)) return others[i].instead;
    return NULL;
}

static bool unknown_option(const Options *options, const char *text, Error *error) {
    const char *names[OPTION_COUNT], *own = options->records ? "redviz-record" : "redviz";
    const OptionRow *row;
    char name[64];
    int count = 0;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(text, "="), text);
    bool is_long = strncmp(name, "--", 2) == 0;
    if (is_long && options_find(FOR_BOTH, name + 2, strlen(name + 2))) {
        const char *other = options->records ? "redviz" : "redviz-record";
        return error_set(error, "%s is %s's: build/%s %s", name, other, other, text);
    }
    for (const char *title; (row = options_row(program_of(options), count, &title)); count++)
        names[count] = row->name;
    const char *instead = is_long ? foreign_option(name + 2) : NULL;
    if (instead) return error_set(error, "%s is compute-sanitizer's: %s", name, instead);
    const char *nearest = is_long ? text_nearest(name + 2, names, count) : NULL;
    if (nearest) return error_set(error, "%s: unknown option; did you mean --%s?", name, nearest);
    return error_set(error, "%s: unknown option; %s --help lists them", name, own);
}

/* Reports a bad argument as getopt found it: ':' missing, '?' unexpected, or an unknown option. */
static bool refuse_option(const Options *options, int code, const char *text, Error *error) {
    for (int i = 0; i < OPTION_COUNT; i++) {
        if (optopt != FIRST_VALUE + i) continue;
        if (code == ':')
            return error_set(error, "--%s needs a value: --%s %s", OPTIONS[i].name, OPTIONS[i].name,
                             OPTIONS[i].argument);
        return error_set(error, "--%s takes no value", OPTIONS[i].name);
    }
    return unknown_option(options, text, error);
}

/* A word that names no file: a kernel of the catalogue, or a lecture. */
static bool take_name(Options *options, const char *name, Error *error) {
    static const char *const endings[] = {".cu", ".ptx", ".redviz"};
    Error why = {0};
    char file[128], path[PATH_MAX];
    if (catalog_find(name, &why)) {
        options->session.kernel = name;
        return true;
    }
    snprintf(file, sizeof file, "%.100s.en.md", name);
    if (catalog_path("assets/lectures", file, path, sizeof path, NULL)) {
        options->given[options_find(FOR_REDVIZ, "lecture", 7) - OPTIONS] = options->has_lecture = true;
        options->lecture = name;
        return true;
    }
    if (catalog_path("assets/exercises", file, path, sizeof path, NULL))
        return error_set(error, "'%.100s' is an exercise: redviz --exercise %.100s", name, name);
    for (int i = 0; i < 3; i++) {
        struct stat status;
        snprintf(path, sizeof path, "%.200s%s", name, endings[i]);
        if (!stat(path, &status))
            return error_set(error, "no file or kernel '%.200s'; did you mean %s?", name, path);
    }
    return error_set(error, "no file or lecture, and %s", why.message);
}

/* Has no ending of a file, is in no folder, and there is no such file. */
static bool is_name(const char *text) {
    struct stat status;
    return !text_is_stream(text) && !strpbrk(text, "./") && stat(text, &status) != 0;
}

/* --index EXPRESSION, without the equals sign. */
static bool take_expressions(Options *options, int count, char **texts, Error *error) {
    static const OptionRow row = {.name = "index"};
    for (int i = 0; i < count; i++)
        if (!take_index(options, &row, texts[i], error)) return false;
    return true;
}

/* A program or library, by its first bytes. */
static bool is_executable(const char *path) {
    char head[4] = "";
    FILE *file = text_open_file(path);
    bool found = file && fread(head, 1, sizeof head, file) == sizeof head &&
                 !memcmp(head,
                         "\x7f"
                         "ELF",
                         sizeof head);
    if (file) fclose(file);
    return found;
}

/* It was meant for the program that --run compiles: no file, and no name of one. */
static bool is_program_argument(const char *text) {
    struct stat status;
    return stat(text, &status) != 0 && !strchr(text, '.') && !strchr(text, '/');
}

static bool take_file(Options *options, int count, char **files, Error *error) {
    if (options->run || options->call) {
        options->run_files = files;
        if (options->call && count != 1)
            return error_set(error, "--call needs one FILE.cu, whose function it calls");
        for (int i = 1; i < count; i++)
            if (is_program_argument(files[i]))
                return error_set(error,
                                 "%s: no such file; arguments of the program go after --: --run %s -- %s",
                                 files[i], files[0], files[i]);
        return count > 0 || error_set(error, "--run needs the file to compile: --run FILE.cu");
    }
    if (options->program_arguments)
        return count == 0 ||
               error_set(error, "%s: a program follows --, or --run compiles FILE.cu", files[0]);
    if (count == 0) return true;
    if (options->has_exercise || options->grades) return options_take_exercise(options, count, files, error);
    const char *last = files[count - 1];
    bool has_form = options->action == ACTION_REPORT || options->action == ACTION_LIST;
    if (has_form && (strcmp(last, "json") == 0 || strcmp(last, "text") == 0))
        return error_set(error, "%s: write --%s=%s, with an equals sign", last, options->action_name, last);
    if (options->has_lecture && !options->lecture && count == 1) {
        options->lecture = files[0];
        return true;
    }
    bool is_kernel =
        text_is_cuda_source(last) || text_ends_with(last, ".ptx") || text_ends_with(last, ".redviz");
    if (options->has_index && !is_kernel) return take_expressions(options, count, files, error);
    bool is_listed = text_is_stream(last) || text_is_cuda_source(last) || text_ends_with(last, ".ptx") ||
                     is_executable(last);
    if (options->action == ACTION_LIST && !is_listed)
        return error_set(
            error, "%s: --list names all kernels of the catalogue, or those of FILE.cu or FILE.ptx", last);
    if (count > 1 || options->session.kernel)
        return error_set(error,
                         "%s: one kernel at a time: give --kernel NAME, one FILE.cu, FILE.ptx or FILE.redviz",
                         last);
    if (is_name(files[0])) return take_name(options, files[0], error);
    if (text_ends_with(files[0], ".redviz"))
        options->session.saved = files[0];
    else
        options->session.file = files[0];
    return true;
}

/* Without anything to run, the interface opens on the home screen, in front of the first kernel of the
 * ladder's lessons. */
static void choose_home(Options *options) {
    RunSpec *session = &options->session;
    bool opens =
        options->action == ACTION_OPEN || options->action == ACTION_FRAME || options->action == ACTION_RECORD;
    if (!opens || options->run || options->call || options->program_arguments || session->kernel ||
        session->file || session->saved || options->has_lecture || options->has_exercise || options->save ||
        options->predict || options->first_for_run || options->has_compare)
        return;
    session->kernel = "interleaved";
    options->home = true;
}

static bool make_runs(Options *options, Error *error) {
    RunSpec *session = &options->session;
    /* The interface need not wait for the whole grid, unless the run is saved. */
    session->first_look = options->action == ACTION_OPEN && !options->save;
    /* A screen shows values in boxes and adds them visibly, so it prefers digits; printed or saved runs use
     * the usual input. */
    session->catalog.prefers_digits = options_draws(options) && !options->save;
    if (options->action == ACTION_REPORT && !session->counters) session->counters = COUNTERS_ON_GPU;
    session->times_blocks = options_draws(options) || options->action == ACTION_REPORT;
    if (session->times_blocks && options->action != ACTION_REPORT && session->backend != BACKEND_EMULATOR)
        session->measure_sass = true; /* the interface shows the machine code of this run */
    if (options->action == ACTION_VERIFY) session->backend = BACKEND_EMULATOR; /* the run to verify */
    if (options->action == ACTION_VERIFY &&
        session->times_warps) /* the multiprocessor that runs a traced block */
        session->has_trace_blocks = true;
    if (!options->has_compare) return true;
    if (!options_draws(options) && options->action != ACTION_REPORT)
        return error_set(error, "--compare works with the interface, --frame and --report, not with --%s",
                         options->action_name);
    /* The launches of a program are known later. */
    return session->saved || options_has_program(options) || options_compare(options, session, error);
}

/* The lab needs no kernel: without one, the lab of strides is behind it. --report prints its figures. */
static void options_choose_index(Options *options) {
    RunSpec *session = &options->session;
    if (!options->has_index) return;
    if (options->action == ACTION_REPORT && !session->kernel && !session->file && !session->saved)
        options->action = ACTION_INDEX;
    else if (options_draws(options) && !session->kernel && !session->file && !session->saved &&
             !options->has_lecture)
        session->kernel = "lab_bank_stride";
}

void options_begin(Options *options) {
    *options = (Options){.session = {.backend = BACKEND_AUTO},
                         .frame_columns = 120,
                         .frame_rows = 40,
                         .time_limit = 60,
                         .error_exit = 1};
}

bool options_parse(int argc, char **argv, Options *options, Error *error) {
    struct option table[OPTION_COUNT + 1] = {0};
    for (int i = 0, count = 0; i < OPTION_COUNT; i++) {
        const char *argument = OPTIONS[i].argument;
        int kind = !argument ? no_argument : *argument == '=' ? optional_argument : required_argument;
        if (OPTIONS[i].programs & program_of(options))
            table[count++] = (struct option){OPTIONS[i].name, kind, NULL, FIRST_VALUE + i};
    }
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--") != 0) continue;
        if (argv[i + 1]) options->program_arguments = argv + i + 1;
        argv[i] = NULL;
        argc = i;
    }
    opterr = 0;
    optind = 1;
    for (int code; (code = getopt_long(argc, argv, ":h", table, NULL)) != -1;) {
        if (code == 'h') {
            options->action = ACTION_HELP;
            continue;
        }
        if (code < FIRST_VALUE) return refuse_option(options, code, argv[optind - 1], error);
        const OptionRow *row = &OPTIONS[code - FIRST_VALUE];
        if (!row->take(options, row, optarg, error)) return false;
        options->given[row - OPTIONS] = true;
        if (row->suits != ANY && !options->first_for_run) options->first_for_run = row->name;
        if (row->suits == CATALOGUE && !options->first_for_kernel) options->first_for_kernel = row->name;
        if (row->suits == USER_FILE && !options->first_for_file) options->first_for_file = row->name;
        if (row->suits == COMPILED && !options->first_for_compiled) options->first_for_compiled = row->name;
    }
    if (options->action == ACTION_OPEN && options->record_cast && options->keys) {
        options->action = ACTION_RECORD;
        options->action_name = "record-cast and --keys";
    }
    options_choose_page(options);
    if (!take_file(options, argc - optind, argv + optind, error)) return false;
    if (options->has_lecture && !options->lecture && options->action == ACTION_OPEN)
        options->action = ACTION_LECTURES;
    if (options->has_exercise && !options->exercise && options->action == ACTION_OPEN)
        options->action = ACTION_EXERCISES;
    options_choose_index(options);
    choose_home(options);
    return check_rules(options, error) && options_check_together(options, error) && make_runs(options, error);
}
