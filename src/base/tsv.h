/* Tab-separated text, written and read: the format of redviz's measurements (assets/h200).
 *
 * Lines that begin with # are comments, and empty lines are skipped; unknown values are "-". */
#ifndef BASE_TSV_H
#define BASE_TSV_H

#include "base/text.h"

#include <stdint.h>

/* ---- writing: each adds a tab, then the column --------------------------------------------------------- */

/* NULL or "": "-". Tabs and line ends in the word become spaces. */
void tsv_add_word(Text *out, const char *word);
/* `digits`: significant digits; NaN: "-". */
void tsv_add_number(Text *out, double number, int digits);

/* ---- reading ------------------------------------------------------------------------------------------- */

enum { TSV_COLUMNS = 40 };

typedef struct TsvReader {
    const char *path;           /* for errors; borrowed */
    int line;                   /* from 1; 0: none yet */
    char *columns[TSV_COLUMNS]; /* of the line, valid until tsv_close(); empty columns are "" */
    /* Number of columns in the line, including those above TSV_COLUMNS, which are not kept. */
    int count;
    char *text, *rest; /* the whole text; the text after the line, NULL: none */
} TsvReader;

/* Opens a file. False with `error`: it cannot be read. */
bool tsv_open(TsvReader *reader, const char *path, Error *error);
/* Opens a copy of this text; `path` names it in errors. */
void tsv_open_text(TsvReader *reader, const char *text, const char *path);
void tsv_close(TsvReader *reader);

/* Splits the next line that is neither empty nor a comment; false: no more lines. */
bool tsv_next(TsvReader *reader);
/* True if the line's first column, its kind, is this word. */
bool tsv_is(const TsvReader *reader, const char *kind);
/* Reads all lines that are left: each by the function of its kind, with `context`. False with `error`: one
 * failed, or a line's kind is not among these. */
typedef struct TsvKind {
    const char *name;
    bool (*read)(void *context, Error *error);
} TsvKind;
bool tsv_read_kinds(TsvReader *reader, const TsvKind *kinds, size_t count, void *context, Error *error);
/* The column; "" for "-". */
const char *tsv_word(const TsvReader *reader, int column);

/* Each of these returns false with `error`: the file, the line and the problem. Columns count from 0 here,
 * and from 1 in messages. */
bool tsv_refuse(const TsvReader *reader, Error *error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool tsv_has_columns(const TsvReader *reader, int count, Error *error);
/* A whole number from `least` to `most`, without a sign. */
bool tsv_whole(const TsvReader *reader, int column, uint64_t least, uint64_t most, uint64_t *out,
               Error *error);
bool tsv_whole32(const TsvReader *reader, int column, uint32_t least, uint32_t most, uint32_t *out,
                 Error *error);
/* A number, or one from `least` to `most`; "-": NaN. */
bool tsv_number(const TsvReader *reader, int column, double *out, Error *error);
bool tsv_number_within(const TsvReader *reader, int column, double least, double most, double *out,
                       Error *error);

#endif
