/* A remedy that is kept: written into the source that the user edits, after its diff was shown. */
#define _XOPEN_SOURCE 700
#include "ask/ask.h"
#include "tui/app_state.h"

#include "base/language.h"
#include "tui/draw/terminal.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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

/* Bytes of a statement that a copy has in front of the whole line; 0: there is none. */
static size_t inserted(const LinePairs *lines, int i) {
    size_t old = strcspn(lines->old[i], "\n"), new = strcspn(lines->new[i], "\n");
    return old && new > old && !memcmp(lines->new[i] + new - old, lines->old[i], old) ? new - old : 0;
}

/* The statement, indented as the line is; then the line. */
static void add_inserted(const LinePairs *lines, int i, const char *signs, Text *out) {
    const char *statement = lines->new[i] + strspn(lines->new[i], " \t"), *line = lines->old[i];
    size_t bytes = inserted(lines, i) - (size_t)(statement - lines->new[i]);
    while (bytes && strchr(" \t", statement[bytes - 1])) bytes--;
    text_print(out, "%.*s%.*s%.*s\n", *signs != 0, signs, (int)strspn(line, " \t"), line, (int)bytes,
               statement);
    text_print(out, "%s%.*s\n", *signs ? signs + 1 : "", (int)strcspn(line, "\n"), line);
}

static void add_lines(char sign, const char *const *lines, int from, int to, Text *out) {
    for (int i = from; i < to; i++) text_print(out, "%c%.*s\n", sign, (int)strcspn(lines[i], "\n"), lines[i]);
}

/* Lines from `from` on up to `end`; changed ones that follow each other are together. Returns how many lines
 * there are more. */
static int add_hunk(const LinePairs *lines, int from, int end, int more_before, Text *out) {
    int more = 0;
    for (int i = from; i < end; i++) more += inserted(lines, i) > 0;
    text_print(out, "@@ -%d,%d +%d,%d @@\n", from + 1, end - from, from + 1 + more_before, end - from + more);
    for (int i = from, next; i < end; i = next) {
        bool is_changed = differs(lines, i), is_inserted = inserted(lines, i) > 0;
        next = i + 1;
        while (!is_inserted && next < end && differs(lines, next) == is_changed && !inserted(lines, next))
            next++;
        if (is_inserted)
            add_inserted(lines, i, "+ ", out);
        else
            add_lines(is_changed ? '-' : ' ', lines->old, i, next, out);
        if (is_changed && !is_inserted) add_lines('+', lines->new, i, next, out);
    }
    return more;
}

static LinePairs pairs_of(const char *old, const char *new) {
    LinePairs lines = {0};
    for (const char *at = old; *at; at = behind_line(at))
        array_push(lines.old, lines.count, lines.capacity, at);
    for (const char *at = new; *at; at = behind_line(at))
        array_push(lines.new, lines.new_count, lines.new_capacity, at);
    if (lines.new_count < lines.count) lines.count = lines.new_count;
    return lines;
}

static void print_diff(const char *file, const char *note, const LinePairs *lines, Text *out) {
    enum { CONTEXT = 3 };
    int more = 0;
    text_print(out, "--- %s\n+++ %s%s\n", file, file, note);
    for (int i = 0, last; i < lines->count; i++) {
        if (!differs(lines, i)) continue;
        last = i;
        for (int k = i; k < lines->count && k <= last + 2 * CONTEXT; k++)
            if (differs(lines, k)) last = k;
        int end = last + CONTEXT < lines->count ? last + CONTEXT + 1 : lines->count;
        more += add_hunk(lines, i > CONTEXT ? i - CONTEXT : 0, end, more, out);
        i = end - 1;
    }
}

/* The changed source, in which inserted statements have lines of their own. */
static void print_source(const LinePairs *lines, Text *out) {
    for (int i = 0; i < lines->count; i++)
        if (inserted(lines, i))
            add_inserted(lines, i, "", out);
        else
            text_print(out, "%.*s\n", (int)strcspn(lines->new[i], "\n"), lines->new[i]);
}

/* ---- which file ---------------------------------------------------------------------------------------- */

/* The file to write, and the text that it changes: of a kernel that ships, a new file in this folder. */
static bool find_source(AppKept *kept, Session *base, const char *file, Error *error) {
    int count;
    size_t length;
    char path[PATH_MAX];
    const char *const *files = session_files(base, &count);
    const CatalogRow *row = session_row(base);
    kept->is_copy = !count && row;
    if (!terminal_has_programs())
        return error_set(error, "%s",
                         tr("a browser compiles no CUDA C++; a PTX file can be dropped here and edited"));
    const char *chosen = kept->is_copy ? row->source : NULL;
    for (int i = 0; file && i < count && !chosen; i++)
        if (!strcmp(scene_file_name(files[i]), scene_file_name(file))) chosen = files[i];
    if (chosen) kept->path = memcpy(memory_new(strlen(chosen) + 1), chosen, strlen(chosen) + 1);
    if (!kept->path || !text_is_cuda_source(kept->path))
        return error_set(error, "%s", tr("it can be written into CUDA C++ only, and this run has none"));
    if (!kept->is_copy) return text_read_file(kept->path, LARGEST_SOURCE, &kept->before, &length, error);
    if (access(kept->path, F_OK) == 0)
        return error_set(error, tr("./%s is there already: e edits it"), kept->path);
    return catalog_path("kernels", row->source, path, sizeof path, error) &&
           text_read_file(path, LARGEST_SOURCE, &kept->before, &length, error);
}

/* ---- the keys ------------------------------------------------------------------------------------------ */

static void show_diff(App *app, AppKept *kept, const char *source) {
    char note[96] = "";
    if (kept->is_copy) snprintf(note, sizeof note, "   (%s)", tr("new, a copy of the one that ships"));
    LinePairs lines = pairs_of(kept->before, source);
    print_diff(scene_file_name(kept->path), note, &lines, &kept->diff);
    print_source(&lines, &kept->source);
    free(lines.old);
    free(lines.new);
    app_view(app)->transient.overlay = OVERLAY_DIFF;
    app_view(app)->transient.scroll = 0;
    app_view(app)->transient.diff = text_string(&kept->diff);
}

void app_keep(App *app) {
    AppKept *kept = &app->kept;
    Error error = {0};
    Text line = {0}, source = {0};
    Session *base = app->slots[0].current.session, *copy = app->slots[1].current.session;
    const SessionWhatIf *what_if = &session_spec(copy)->what_if;
    const char *file = ask_verdict(base)->items[what_if->finding].access.file;
    app_kept_done(kept);
    kept->more_shared = what_if->more_shared;
    if (!ask_remedy_change(base, copy, what_if->finding, what_if->number, &line))
        view_say(app_view(app), "%s", text_string(&line));
    else if (!find_source(kept, base, file, &error) ||
             !ask_keep_remedy(base, what_if->finding, what_if->number, kept->before, &source, &error))
        app_say(app, tr("not written"), error.message);
    else
        show_diff(app, kept, text_string(&source));
    text_done(&line);
    text_done(&source);
}

void app_mend(App *app, int slot, int finding) {
    AppKept *kept = &app->kept;
    Error error = {0};
    Session *base = app->slots[slot].current.session;
    const FindingCause *cause = ask_mend(base, finding, &error);
    app_kept_done(kept);
    kept->slot = slot;
    if (!cause || !find_source(kept, base, cause->file, &error)) {
        app_say(app, tr("not written"), error.message);
        return;
    }
    show_diff(app, kept, cause->source);
}

static bool put_source(const AppKept *kept, int file) {
    size_t length = kept->source.length;
    bool good = write(file, text_string(&kept->source), length) == (ssize_t)length;
    return close(file) == 0 && good;
}

static bool write_new(const AppKept *kept) {
    int file = open(kept->path, O_WRONLY | O_CREAT | O_EXCL, 0666);
    return file >= 0 && put_source(kept, file);
}

/* The file stays as it is until all of the new one is written. */
static bool replace(const AppKept *kept) {
    char path[PATH_MAX], making[PATH_MAX + 8];
    struct stat status;
    if (!realpath(kept->path, path) || stat(path, &status)) return false;
    snprintf(making, sizeof making, "%s.XXXXXX", path);
    int file = mkstemp(making);
    if (file < 0) return false;
    bool good = !fchmod(file, status.st_mode & 07777);
    if (put_source(kept, file) && good && !rename(making, path)) return true;
    int reason = errno;
    unlink(making);
    errno = reason;
    return false;
}

static bool write_file(const AppKept *kept, Error *error) {
    char *now = NULL;
    size_t length;
    bool is_same = kept->is_copy || (text_read_file(kept->path, LARGEST_SOURCE, &now, &length, error) &&
                                     !strcmp(now, kept->before));
    free(now);
    if (!is_same) return error_set(error, "%s", tr("it has changed since the diff was made"));
    bool good = kept->is_copy ? write_new(kept) : replace(kept);
    return good || error_set(error, tr("cannot be written: %s"), strerror(errno));
}

void app_write_kept(App *app) {
    AppKept *kept = &app->kept;
    Error error = {0};
    Session *base = app->slots[kept->slot].current.session;
    RunSpec options = *session_spec(base);
    if (!write_file(kept, &error)) {
        app_say(app, kept->path, error.message);
        return;
    }
    uint32_t more = kept->more_shared, now = session_trace(base)->launches[0]->dynamic_shared_bytes;
    if (kept->is_copy) options.source = kept->path;
    if (more && (options.has_shared || session_row(base))) { /* who gives the bytes, gives as many more */
        options.has_shared = true;
        options.shared_bytes = now + more;
    }
    options.ptx = NULL;
    run_spec_drop_remedy(&options);
    for (int i = 0; i < app->comparison.count; i++) /* this change is the one that runs */
        if (app->slots[i].files) file_watch_changed(app->slots[i].files);
    app_show_changed(app, &options, scene_file_name(kept->path));
    if (app_view(app)->transient.failure.message[0]) return;
    if (kept->is_copy && options.has_shared)
        view_say(app_view(app), tr("written: --kernel %s --source %s --shared %u runs it"), options.kernel,
                 kept->path, options.shared_bytes);
    else
        app_say(app, tr("written"), kept->path);
}
