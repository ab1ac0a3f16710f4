/* The link from a page of --html to the page of the interface, where that lies beside it. */
#include "cli/page_link.h"

#include "base/language.h"
#include <string.h>
#include <unistd.h>

static void add_encoded(Text *out, const char *text) {
    for (; *text; text++)
        if (strchr("-._~,*", *text) || (*text >= '0' && *text <= '9') ||
            ((*text | 32) >= 'a' && (*text | 32) <= 'z'))
            text_add_bytes(out, text, 1);
        else
            text_print(out, "%%%02X", (unsigned char)*text);
}

static void add_setting(Text *out, const char *name, const char *value) {
    text_print(out, "%c%s", strchr(text_string(out), '#') ? '&' : '#', name);
    if (!value) return;
    text_add(out, "=");
    add_encoded(out, value);
}

static bool is_one_of(const char *name, const char *const *names) {
    while (*names && strcmp(*names, name) != 0) names++;
    return *names;
}

/* Adds the option words[0]; *used: how many words it takes. */
static bool add_option(Text *out, char *const *words, int *used) {
    static const char *const of_the_page[] = {"html", "frame", "language", "backend", NULL};
    static const char *const not_in_a_browser[] = {"counters", "save", NULL};
    const char *name = words[0] + 2, *value = strchr(name, '=');
    const OptionRow *row = options_find(FOR_REDVIZ, name, strcspn(name, "="));
    if (!row || is_one_of(row->name, not_in_a_browser)) return false;
    if (value) value++;
    *used = !value && row->argument && *row->argument != '=' ? 2 : 1;
    if (*used == 2) value = words[1];
    bool is_bare_lecture = !value && !strcmp(row->name, "lecture"); /* its name follows */
    if (!is_bare_lecture && !is_one_of(row->name, of_the_page)) add_setting(out, row->name, value);
    return true;
}

static bool add_settings(const Options *options, Text *out) {
    for (int i = 1, used = 1; i < options->argc; i += used) {
        const char *word = options->argv[i];
        used = 1;
        if (!strncmp(word, "--", 2)) {
            if (!add_option(out, options->argv + i, &used)) return false;
        } else {
            add_setting(out,
                        word == options->lecture          ? "lecture"
                        : word == options->session.kernel ? "kernel"
                                                          : "index",
                        word);
        }
    }
    if (!strcmp(language(), "zh")) add_setting(out, "language", "zh");
    return true;
}

/* What the page of the interface has: the catalogue's kernels and the lectures. */
static bool is_in_the_interface(const Options *options) {
    const RunSpec *session = &options->session;
    bool is_file = session->file || session->saved || session->catalog.fill_path || options->first_for_file ||
                   options->first_for_compiled;
    bool is_lecture = options->lecture && !strpbrk(options->lecture, "./");
    return options->argv && !is_file && !options_has_program(options) && !options->has_exercise &&
           session->backend != BACKEND_GPU && (session->kernel || is_lecture);
}

bool page_link_add(const Options *options, Text *out) {
    static const char page[] = "redviz.html";
    const char *slash = strrchr(options->html, '/');
    Text path = {0};
    text_add_bytes(&path, options->html, slash ? (size_t)(slash + 1 - options->html) : 0);
    text_add(&path, page);
    bool is_there = strcmp(text_string(&path), options->html) != 0 && access(text_string(&path), F_OK) == 0;
    text_done(&path);
    text_add(out, page);
    return is_there && is_in_the_interface(options) && add_settings(options, out);
}
