/* Language: the texts of the interface, English beside Chinese, in one table (base/texts/). English is
 * written where it is used, tr("2 of %d lanes"), and is the key of the table; the language is a setting of
 * the process. Reports, errors and JSON stay English: they are printed in that language, or do not use tr().
 *
 * A Chinese format takes the same arguments in the same order; `%.0s` takes one that Chinese does not show
 * (the plural's "s"). Source code, names of CUDA and of machines are not translated. */
#ifndef BASE_LANGUAGE_H
#define BASE_LANGUAGE_H

#include <stdbool.h>

typedef struct LanguageText {
    const char *english, *chinese;
} LanguageText;

/* "en" or "zh"; false: not a language of the interface, and nothing changes. Before any other thread
 * starts. */
bool language_set(const char *name);
const char *language(void);

/* The text in the language of the process; itself where the table lacks it. */
const char *tr(const char *english) __attribute__((format_arg(1)));

/* All rows of the table, for tests. */
const LanguageText *language_texts(int *count);

#endif
