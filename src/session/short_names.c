#include "session/short_names.h"

#include "base/memory.h"
#include "ptx/library_files.h"
#include <stdlib.h>
#include <string.h>

typedef struct ShortName {
    char *path;
    const char *name; /* its end */
} ShortName;

/* From the next .file directive that names an absolute path, the path in quotes: .file 1 "/a/b.cu"; NULL:
 * there is none. */
static const char *next_path(const char *ptx, size_t *length) {
    static const char directive[] = ".file";
    while ((ptx = strstr(ptx, directive))) {
        ptx += sizeof directive - 1;
        size_t blank = strspn(ptx, " \t"), digits = strspn(ptx + blank, "0123456789"),
               after = strspn(ptx + blank + digits, " \t");
        const char *quote = ptx + blank + digits + after;
        if (!blank || !digits || !after || strncmp(quote, "\"/", 2) != 0) continue;
        *length = strcspn(quote + 1, "\"\n");
        return quote + 1;
    }
    return NULL;
}

/* The last `parts` parts of a path, or all of it. */
static const char *end_of(const char *path, int parts) {
    const char *at = path + strlen(path);
    while (at > path && (at[-1] != '/' || --parts)) at--;
    return at;
}

static bool is_shared(const ShortNames *names, int index) {
    for (int i = 0; i < names->count; i++)
        if (i != index && !strcmp(names->items[i].name, names->items[index].name)) return true;
    return false;
}

void short_names_read(ShortNames *names, const char *ptx) {
    enum { MOST_FILES = 4096, MOST_PARTS = 16 };
    size_t length;
    for (const char *path = ptx; (path = next_path(path, &length)) && names->count < MOST_FILES;) {
        bool is_new = true;
        for (int i = 0; i < names->count && is_new; i++)
            is_new = strncmp(names->items[i].path, path, length) != 0 || names->items[i].path[length];
        if (!is_new) continue;
        char *copy = memory_new(length + 1);
        memcpy(copy, path, length);
        array_push(names->items, names->count, names->capacity, ((ShortName){copy, NULL}));
    }
    for (int i = 0; i < names->count; i++) {
        const char *of_library = ptx_library_file_end(names->items[i].path);
        names->items[i].name = of_library ? of_library : end_of(names->items[i].path, 1);
    }
    for (int parts = 2; parts <= MOST_PARTS; parts++)
        for (int i = 0; i < names->count; i++)
            if (is_shared(names, i) && !ptx_library_file_end(names->items[i].path))
                names->items[i].name = end_of(names->items[i].path, parts);
}

void short_names_done(ShortNames *names) {
    for (int i = 0; i < names->count; i++) free(names->items[i].path);
    free(names->items);
    *names = (ShortNames){0};
}

const char *short_names_path(const ShortNames *names, int index) {
    return index < names->count ? names->items[index].path : NULL;
}

const char *short_names_find(const ShortNames *names, const char *path) {
    if (!path || *path != '/') return path;
    for (int i = 0; i < names->count; i++)
        if (!strcmp(names->items[i].path, path)) return names->items[i].name;
    return end_of(path, 1);
}

void short_names_write_ptx(const ShortNames *names, const char *ptx, Text *out) {
    size_t length;
    for (const char *path; (path = next_path(ptx, &length)); ptx = path + length) {
        char *copy = memory_new(length + 1);
        memcpy(copy, path, length);
        text_add_bytes(out, ptx, (size_t)(path - ptx));
        text_add(out, short_names_find(names, copy));
        free(copy);
    }
    text_add(out, ptx);
}

void short_names_write_arguments(const char *arguments, Text *out) {
    static const char word[] = "file:/";
    for (const char *at; (at = strstr(arguments, word));) {
        const char *path = at + sizeof word - 2, *end = path + strcspn(path, ",')};"), *name = end;
        while (name[-1] != '/') name--;
        text_add_bytes(out, arguments, (size_t)(path - arguments));
        text_add_bytes(out, name, (size_t)(end - name));
        arguments = end;
    }
    text_add(out, arguments);
}
