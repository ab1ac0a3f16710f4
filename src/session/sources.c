#define _POSIX_C_SOURCE 200809L
#include "session/sources.h"

#include "catalog/catalog.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { LIMIT_BYTES = 16 << 20 };

typedef struct SourceFile {
    char *name; /* as the line table says it */
    char *text; /* NULL: not found */
    const char **lines;
    int line_count;
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

/* Ours lie in kernels/; a user's is where the line table says, or beside the PTX file. */
static bool read_file(const Sources *sources, SourceFile *source) {
    char path[PATH_MAX * 2];
    size_t length;
    const char *slash = strrchr(source->name, '/'), *base = slash ? slash + 1 : source->name;
    if (!sources->ptx_path)
        return catalog_path("kernels", base, path, sizeof path, NULL) &&
               text_read_file(path, LIMIT_BYTES, &source->text, &length, NULL);
    if (text_read_file(source->name, LIMIT_BYTES, &source->text, &length, NULL)) return true;
    slash = strrchr(sources->ptx_path, '/');
    int folder = slash ? (int)(slash + 1 - sources->ptx_path) : 0;
    snprintf(path, sizeof path, "%.*s%s", folder, sources->ptx_path, base);
    return text_read_file(path, LIMIT_BYTES, &source->text, &length, NULL);
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

int sources_line_count(Sources *sources, const char *file) {
    return file ? find(sources, file)->line_count : 0;
}

const char *sources_line(Sources *sources, const char *file, int line) {
    const SourceFile *source = file ? find(sources, file) : NULL;
    return source && line >= 1 && line <= source->line_count ? source->lines[line - 1] : NULL;
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
