/* Short names: names of files without the folders of this machine, since a session file is passed on. A file
 * that a line table names by an absolute path keeps only as much of that path's end as no other file shares:
 * "k.cu", or "common/reduce.h" beside "old/reduce.h". One of a
 * library keeps what tells that it is one. Names that are not absolute stay.
 *
 * What the kernel itself contains stays as it is, too: an assert() compiles the path of its file into the
 * program. */
#ifndef SESSION_SHORT_NAMES_H
#define SESSION_SHORT_NAMES_H

#include "base/text.h"

typedef struct ShortNames {
    struct ShortName *items;
    int count, capacity;
} ShortNames;

/* Adds the files that the PTX text names (.file), which may make names of earlier ones longer. `names` is
 * zeroed at first. */
void short_names_read(ShortNames *names, const char *ptx);
void short_names_done(ShortNames *names);

/* The absolute path of the file with this number, from 0; NULL: there is none. */
const char *short_names_path(const ShortNames *names, int index);
/* The short name of a file; the last part of a path that the PTX does not name; NULL for NULL. Borrowed from
 * `names` or `path`. */
const char *short_names_find(const ShortNames *names, const char *path);
/* The PTX with these names. */
void short_names_write_ptx(const ShortNames *names, const char *ptx, Text *out);
/* --args, or a guess of it, with "file:/home/me/numbers" as "file:numbers". */
void short_names_write_arguments(const char *arguments, Text *out);

#endif
