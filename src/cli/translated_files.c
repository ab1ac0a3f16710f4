#define _POSIX_C_SOURCE 200809L

#include "cli/translated_files.h"

#include "base/text.h"
#include "catalog/catalog.h"
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FILES = 4 * TRANSLATED_MOST, NAME_BYTES = TRANSLATED_NAME_BYTES };

bool translated_split(const char *file, char name[NAME_BYTES], char language[NAME_BYTES]) {
    const char *dot = strchr(file, '.'), *end = dot ? strstr(dot + 1, ".md") : NULL;
    if (!end || end[3] || end == dot + 1 || dot == file || end - file >= NAME_BYTES) return false;
    snprintf(name, NAME_BYTES, "%.*s", (int)(dot - file), file);
    snprintf(language, NAME_BYTES, "%.*s", (int)(end - dot - 1), dot + 1);
    return true;
}

static int by_name(const void *a, const void *b) {
    return strcmp(a, b);
}

/* The file names of the folder, in alphabetical order. */
static int list_files(const TranslatedFolder *folder, char files[MOST_FILES][NAME_BYTES], Error *error) {
    char path[TRANSLATED_PATH_BYTES], name[NAME_BYTES], language[NAME_BYTES];
    int count = 0;
    if (!catalog_path(folder->path, "README.md", path, sizeof path, error)) return -1;
    *strrchr(path, '/') = 0;
    DIR *opened = opendir(path);
    if (!opened) {
        error_set_at(error, path, 0, 0, "the folder cannot be read");
        return -1;
    }
    for (struct dirent *entry; count < MOST_FILES && (entry = readdir(opened));)
        if (strlen(entry->d_name) < NAME_BYTES && translated_split(entry->d_name, name, language))
            memcpy(files[count++], entry->d_name, strlen(entry->d_name) + 1);
    closedir(opened);
    qsort(files, (size_t)count, NAME_BYTES, by_name);
    return count;
}

bool translated_find(const TranslatedFolder *folder, const char *wanted, const char *language,
                     char path[TRANSLATED_PATH_BYTES], Error *error) {
    if (text_ends_with(wanted, ".md") && strlen(wanted) > 3) {
        snprintf(path, TRANSLATED_PATH_BYTES, "%s", wanted);
        return true;
    }
    const char *const languages[] = {language, "en"};
    for (int i = 0; i < 2 && !strchr(wanted, '/'); i++) {
        char file[2 * NAME_BYTES];
        snprintf(file, sizeof file, "%.60s.%.8s.md", wanted, languages[i]);
        if (catalog_path(folder->path, file, path, TRANSLATED_PATH_BYTES, NULL)) return true;
    }
    char names[TRANSLATED_MOST][NAME_BYTES];
    const char *candidates[TRANSLATED_MOST];
    int count = translated_names(folder, names, error);
    if (count < 0) return false;
    for (int i = 0; i < count; i++) candidates[i] = names[i];
    const char *nearest = text_nearest(wanted, candidates, (size_t)count);
    if (nearest)
        return error_set(error, "there is no %s '%s'; did you mean %s?", folder->noun, wanted, nearest);
    return error_set(error, "there is no %s '%s'; redviz --%s lists them", folder->noun, wanted,
                     folder->noun);
}

int translated_names(const TranslatedFolder *folder, char names[TRANSLATED_MOST][NAME_BYTES], Error *error) {
    char files[MOST_FILES][NAME_BYTES], name[NAME_BYTES], language[NAME_BYTES];
    int count = list_files(folder, files, error), kept = 0;
    for (int i = 0; i < count && kept < TRANSLATED_MOST; i++)
        if (translated_split(files[i], name, language) && (!kept || strcmp(name, names[kept - 1]) != 0))
            memcpy(names[kept++], name, NAME_BYTES);
    return count < 0 ? -1 : kept;
}
