#define _XOPEN_SOURCE 700
#include "session/sources.h"

#include "catalog/catalog.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { LIMIT_BYTES = 16 << 20 };

typedef struct SourceFile {
    char *name; /* as the line table says it */
    char *text; /* NULL: not found */
    const char **lines;
    int line_count;
    bool is_elsewhere; /* it exists, but was not opened */
} SourceFile;

static void split_lines(SourceFile *source) {
    int capacity = 0;
    for (char *line = source->text; line && *line;) {
        array_push(source->lines, source->line_count, capacity, line);
        char *end = strchr(line, '\n');
        if (!end) break;
        if (end > line && end[-1] == '\r') end[-1] = 0;
        *end = 0;
        line = end + 1;
    }
}

/* Does `whole`, an absolute path without links, lie below `folder`? */
static bool is_below(const char *whole, const char *folder) {
    char real[PATH_MAX];
    if (!realpath(*folder ? folder : ".", real)) return false;
    size_t length = strlen(real);
    if (!strcmp(real, "/")) length = 0;
    return !strncmp(whole, real, length) && whole[length] == '/';
}

/* The folder of a file, "" for one without. */
static void folder_of(const char *path, char folder[PATH_MAX]) {
    const char *slash = strrchr(path, '/');
    snprintf(folder, PATH_MAX, "%.*s", slash ? (int)(slash + 1 - path) : 0, path);
}

static bool may_open(const Sources *sources, const char *whole) {
    char folder[PATH_MAX], kernels[PATH_MAX];
    const char *toolkit = getenv("CUDA_HOME");
    if (is_below(whole, toolkit && *toolkit ? toolkit : "/usr/local/cuda")) return true;
    folder_of(sources->path, folder);
    if ((!sources->is_piped && is_below(whole, folder)) ||
        (sources->folder && is_below(whole, sources->folder)))
        return true;
    if (!catalog_path("kernels", "operations.cuh", kernels, sizeof kernels, NULL)) return false;
    folder_of(kernels, folder);
    return is_below(whole, folder);
}

/* `folder` and `name`, one after the other. True: it was read. */
static bool try_to_read(const Sources *sources, const char *folder, const char *name, SourceFile *source) {
    char path[2 * PATH_MAX], whole[PATH_MAX];
    size_t length;
    struct stat about;
    if (snprintf(path, sizeof path, "%s%s", folder, name) >= PATH_MAX || !realpath(path, whole)) return false;
    if (may_open(sources, whole)) return text_read_file(whole, LIMIT_BYTES, &source->text, &length, NULL);
    source->is_elsewhere |= stat(whole, &about) == 0 && S_ISREG(about.st_mode);
    return false;
}

/* Sources of the catalogue lie in kernels/. A user's file is looked for by its name in the line table, from
 * here and from the folder of the PTX file, then beside the PTX file and in the folder of --sources. */
static bool read_file(const Sources *sources, SourceFile *source) {
    char path[PATH_MAX], beside[PATH_MAX], named[PATH_MAX] = "";
    size_t length;
    const char *name = source->name, *slash = strrchr(name, '/'), *base = slash ? slash + 1 : name;
    if (!sources->path)
        return catalog_path("kernels", base, path, sizeof path, NULL) &&
               text_read_file(path, LIMIT_BYTES, &source->text, &length, NULL);
    folder_of(sources->path, beside);
    if (sources->folder) snprintf(named, sizeof named, "%s/", sources->folder);
    bool found =
        try_to_read(sources, "", name, source) || try_to_read(sources, beside, name, source) ||
        try_to_read(sources, beside, base, source) ||
        (*named && (try_to_read(sources, named, name, source) || try_to_read(sources, named, base, source)));
    source->is_elsewhere &= !found;
    return found;
}

static const SourceFile *find(Sources *sources, const char *file) {
    for (int i = 0; i < sources->file_count; i++)
        if (!strcmp(sources->files[i].name, file)) return &sources->files[i];
    SourceFile source = {.name = memory_copy_text(file)};
    if (!sources->is_closed && read_file(sources, &source)) split_lines(&source);
    array_push(sources->files, sources->file_count, sources->file_capacity, source);
    return &sources->files[sources->file_count - 1];
}

void sources_add(Sources *sources, const char *file, const char *text) {
    SourceFile source = {.name = memory_copy_text(file)};
    if (text) {
        source.text = memory_copy_text(text);
        split_lines(&source);
    }
    array_push(sources->files, sources->file_count, sources->file_capacity, source);
}

bool sources_text(Sources *sources, const char *file, Text *out) {
    const SourceFile *source = find(sources, file);
    for (int i = 0; i < source->line_count; i++) {
        text_add(out, source->lines[i]);
        text_add(out, "\n");
    }
    return source->text != NULL;
}

const char *sources_first_unopened(const Sources *sources) {
    for (int i = 0; i < sources->file_count; i++)
        if (sources->files[i].is_elsewhere) return sources->files[i].name;
    return NULL;
}

int sources_line_count(Sources *sources, const char *file) {
    return file ? find(sources, file)->line_count : 0;
}

const char *sources_line(Sources *sources, const char *file, int line) {
    const SourceFile *source = file ? find(sources, file) : NULL;
    return source && line >= 1 && line <= source->line_count ? source->lines[line - 1] : NULL;
}

const char *sources_file(const Sources *sources, int index) {
    return index < sources->file_count ? sources->files[index].name : NULL;
}

void sources_done(Sources *sources) {
    for (int i = 0; i < sources->file_count; i++) {
        free(sources->files[i].name);
        free(sources->files[i].text);
        free(sources->files[i].lines);
    }
    free(sources->files);
    *sources = (Sources){0};
}
