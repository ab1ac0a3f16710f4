/* Sources: the text of the files that a line table names, line by line, read at the first question. */
#ifndef SESSION_SOURCES_H
#define SESSION_SOURCES_H

#include "base/memory.h"
#include "base/text.h"

typedef struct Sources {
    const char *ptx_path; /* of a kernel that is in no catalogue, else NULL; borrowed */
    bool is_closed;       /* what is not here yet is not looked for */
    struct SourceFile *files;
    int file_count, file_capacity;
} Sources;

void sources_done(Sources *sources);

/* A file by its name in the line table; NULL: there is none. */
void sources_add(Sources *sources, const char *file, const char *text);
/* The whole text, as lines; false: there is none. */
bool sources_text(Sources *sources, const char *file, Text *out);

/* Lines are from 1. 0 and NULL where the file, or the line, cannot be found. */
int sources_line_count(Sources *sources, const char *file);
const char *sources_line(Sources *sources, const char *file, int line);

#endif
