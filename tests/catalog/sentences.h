/* Sentences: the sentences about kernels anywhere in the tree, one by one. The claims (claims.def) are about
 * them. */
#ifndef TESTS_CATALOG_SENTENCES_H
#define TESTS_CATALOG_SENTENCES_H

#include <stdbool.h>
#include <stddef.h>

typedef struct Sentence {
    char *where;       /* "interleaved: lesson", of the catalogue; or the path of a file */
    char *text;        /* without line breaks and comment marks; white space is one space */
    bool is_of_kernel; /* it stands in the catalogue, in a kernel's header or in a README: its counts are
                          claims, too; elsewhere the program fills them in */
    bool is_drawn;     /* a line of a drawing: only its counts are claims */
} Sentence;

typedef struct Sentences {
    Sentence *items;
    size_t count, capacity;
} Sentences;

/* Everything: rows of the catalogue; the comments at the head of kernels; both README files; strings of
 * src/metrics and tui/panes. Fails the test where a file cannot be read. */
void sentences_read(Sentences *all);
void sentences_done(Sentences *all);

/* The word of the sentence that names a cause or a cost; NULL: there is none. */
const char *sentence_cost_word(const Sentence *sentence);

#endif
