/* A remedy that is kept: written into the source that the user edits, after its diff was shown. */
#define _POSIX_C_SOURCE 200809L
#include "ask/ask.h"
#include "tui/app_state.h"

#include "base/language.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LARGEST_SOURCE = 1 << 20 };

/* ---- the diff ------------------------------------------------------------------------------------------ */

typedef struct LinePairs { /* of a text and its copy, which has as many */
    const char **old, **new;
    int count, capacity, new_count, new_capacity;
} LinePairs;

static bool differs(const LinePairs *lines, int i) {
    size_t length = strcspn(lines->old[i], "\n");
    return length != strcspn(lines->new[i], "\n") || memcmp(lines->old[i], lines->new[i], length) != 0;
}

static const char *behind_line(const char *at) {
    at += strcspn(at, "\n");
    return *at ? at + 1 : at;
}

static void add_lines(char sign, const char *const *lines, int from, int to, Text *out) {
    for (int i = from; i < to; i++) text_print(out, "%c%.*s\n", sign, (int)strcspn(lines[i], "\n"), lines[i]);
}

/* Lines from `from` on up to `end`; changed ones that follow each other are together. */
static void add_hunk(const LinePairs *lines, int from, int end, Text *out) {
    text_print(out, "@@ -%d,%d +%d,%d @@\n", from + 1, end - from, from + 1, end - from);
    for (int i = from, next; i < end; i = next) {
        bool is_changed = differs(lines, i);
        for (next = i; next < end && differs(lines, next) == is_changed;) next++;
        add_lines(is_changed ? '-' : ' ', lines->old, i, next, out);
        if (is_changed) add_lines('+', lines->new, i, next, out);
    }
}

static void print_diff(const char *file, const char *note, const char *old, const char *new, Text *out) {
    enum { CONTEXT = 3 };
    LinePairs lines = {0};
    for (const char *at = old; *at; at = behind_line(at))
        array_push(lines.old, lines.count, lines.capacity, at);
    for (const char *at = new; *at; at = behind_line(at))
        array_push(lines.new, lines.new_count, lines.new_capacity, at);
    if (lines.new_count < lines.count) lines.count = lines.new_count;
    text_print(out, "--- %s\n+++ %s%s\n", file, file, note);
    for (int i = 0, last; i < lines.count; i++) {
        if (!differs(&lines, i)) continue;
        last = i;
        for (int k = i; k < lines.count && k <= last + 2 * CONTEXT; k++)
            if (differs(&lines, k)) last = k;
        int end = last + CONTEXT < lines.count ? last + CONTEXT + 1 : lines.count;
        add_hunk(&lines, i > CONTEXT ? i - CONTEXT : 0, end, out);
        i = end - 1;
    }
    free(lines.old);
    free(lines.new);
}

/* ---- which file ---------------------------------------------------------------------------------------- */

/* The file to write, and the text that it changes: of a kernel that ships, a new file in this folder. */
static bool find_source(AppKept *kept, Session *base, const Finding *of, Error *error) {
    int count;
    size_t length;
    char path[PATH_MAX];
    const char *const *files = session_files(base, &count);
    const CatalogRow *row = session_row(base);
    kept->is_copy = !count && row;
    for (int i = 0; i < count && !kept->path; i++)
        if (of->access.file && !strcmp(scene_file_name(files[i]), scene_file_name(of->access.file)))
            kept->path = files[i];
    if (kept->is_copy) kept->path = row->source;
    if (!kept->path || !text_is_cuda_source(kept->path))
        return error_set(error, "%s", tr("it can be written into CUDA C++ only, and this run has none"));
    if (!kept->is_copy) return text_read_file(kept->path, LARGEST_SOURCE, &kept->before, &length, error);
    if (access(kept->path, F_OK) == 0)
        return error_set(error, tr("./%s is there already: e edits it"), kept->path);
    return catalog_path("kernels", row->source, path, sizeof path, error) &&
           text_read_file(path, LARGEST_SOURCE, &kept->before, &length, error);
}

/* ---- the keys ------------------------------------------------------------------------------------------ */

void app_keep(App *app) {
    AppKept *kept = &app->kept;
    Error error = {0};
    Text line = {0};
    Session *base = app->slots[0].current.session, *copy = app->slots[1].current.session;
    const SessionWhatIf *what_if = &session_spec(copy)->what_if;
    const Finding *of = &ask_verdict(base)->items[what_if->finding];
    app_kept_done(kept);
    bool helps = ask_remedy_change(base, copy, what_if->finding, what_if->number, &line);
    if (!helps)
        view_say(app_view(app), "%s", text_string(&line));
    else if (!find_source(kept, base, of, &error) ||
             !ask_keep_remedy(base, what_if->finding, what_if->number, kept->before, &kept->source, &error))
        app_say(app, tr("not written"), error.message);
    else {
        char note[96] = "";
        if (kept->is_copy) snprintf(note, sizeof note, "   (%s)", tr("new, a copy of the one that ships"));
        print_diff(scene_file_name(kept->path), note, kept->before, text_string(&kept->source), &kept->diff);
        app_view(app)->transient.overlay = OVERLAY_DIFF;
        app_view(app)->transient.scroll = 0;
        app_view(app)->transient.diff = text_string(&kept->diff);
    }
    text_done(&line);
}

static bool write_file(const AppKept *kept, Error *error) {
    char *now = NULL;
    size_t length;
    bool is_same = kept->is_copy || (text_read_file(kept->path, LARGEST_SOURCE, &now, &length, error) &&
                                     !strcmp(now, kept->before));
    free(now);
    if (!is_same) return error_set(error, "%s", tr("it has changed since the diff was made"));
    int file = open(kept->path, O_WRONLY | (kept->is_copy ? O_CREAT | O_EXCL : O_TRUNC), 0666);
    bool good = file >= 0 &&
                write(file, text_string(&kept->source), kept->source.length) == (ssize_t)kept->source.length;
    if (file >= 0) good = close(file) == 0 && good;
    return good || error_set(error, tr("cannot be written: %s"), strerror(errno));
}

void app_write_kept(App *app) {
    AppKept *kept = &app->kept;
    Error error = {0};
    Session *base = app->slots[0].current.session;
    RunSpec options = *session_spec(base);
    const SessionWhatIf *what_if = &session_spec(app->slots[1].current.session)->what_if;
    if (!write_file(kept, &error)) {
        app_say(app, kept->path, error.message);
        return;
    }
    uint32_t more = what_if->more_shared, now = session_trace(base)->launches[0]->dynamic_shared_bytes;
    if (kept->is_copy) options.source = kept->path;
    if (more && (options.has_shared || session_row(base))) { /* who gives the bytes, gives as many more */
        options.has_shared = true;
        options.shared_bytes = now + more;
    }
    options.ptx = NULL;
    run_spec_drop_remedy(&options);
    run_slot_forget_files(&app->slots[0]);
    if (app->slots[1].files) file_watch_changed(app->slots[1].files); /* this change is the one that runs */
    app_show_changed(app, &options, scene_file_name(kept->path));
    if (app_view(app)->transient.failure.message[0]) return;
    if (kept->is_copy && options.has_shared)
        view_say(app_view(app), tr("written: --kernel %s --source %s --shared %u runs it"), options.kernel,
                 kept->path, options.shared_bytes);
    else
        app_say(app, tr("written"), kept->path);
}
