/* Sources: the text of the files in a line table, line by line. A file is read at the first question.
 *
 * A line table is part of a PTX file, which may have come from anywhere, and what is read is shown, and saved
 * into session files that are passed on. So only regular files are opened, and only those that lie, links
 * followed, below the folder of the PTX or CUDA file itself, below the kernels of redviz or the CUDA toolkit,
 * or below the folder that the user named (--sources). */
#ifndef SESSION_SOURCES_H
#define SESSION_SOURCES_H

#include "base/memory.h"
#include "base/text.h"

typedef struct Sources {
    const char *path;   /* FILE.ptx or FILE.cu of a kernel that is in no catalogue, else NULL; borrowed */
    const char *folder; /* that the user named; NULL: none; borrowed */
    bool is_piped;      /* `path` was no file: nothing lies beside it */
    bool is_closed;     /* no further file is looked for */
    struct SourceFile *files;
    int file_count, file_capacity;
} Sources;

void sources_done(Sources *sources);

/* A file by its name in the line table; or NULL. */
void sources_add(Sources *sources, const char *file, const char *text);
/* The name of the file with this number among those that were added or asked for, from 0; NULL: there is
 * none. */
const char *sources_file(const Sources *sources, int index);
/* The text of a file, as lines; false if it was not found. */
bool sources_text(Sources *sources, const char *file, Text *out);

/* The first file that exists but was not opened, because of the folder it lies in; or NULL. */
const char *sources_first_unopened(const Sources *sources);

/* Lines are from 1. 0 and NULL where the file, or the line, cannot be found. */
int sources_line_count(Sources *sources, const char *file);
const char *sources_line(Sources *sources, const char *file, int line);

#endif
