/* Translated files: Markdown files of a folder of assets in several languages, NAME.en.md and NAME.zh.md. */
#ifndef CLI_TRANSLATED_FILES_H
#define CLI_TRANSLATED_FILES_H

#include "base/error.h"

enum { TRANSLATED_MOST = 64, TRANSLATED_NAME_BYTES = 64, TRANSLATED_PATH_BYTES = 1024 };

typedef struct TranslatedFolder {
    const char *path; /* "assets/lectures" */
    const char *noun; /* "lecture"; also the option that lists them */
} TranslatedFolder;

/* "ladder" and "en" of "ladder.en.md"; false: another file. */
bool translated_split(const char *file, char name[TRANSLATED_NAME_BYTES],
                      char language[TRANSLATED_NAME_BYTES]);

/* The file of this name in the language, else in English; FILE.md is itself. False with `error`, which names
 * the nearest. */
bool translated_find(const TranslatedFolder *folder, const char *wanted, const char *language,
                     char path[TRANSLATED_PATH_BYTES], Error *error);

/* The names in alphabetical order; -1: the folder cannot be read. */
int translated_names(const TranslatedFolder *folder, char names[TRANSLATED_MOST][TRANSLATED_NAME_BYTES],
                     Error *error);

#endif
