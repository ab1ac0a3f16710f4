/* The reader of the items of --args and --launch. Private to arguments*.c. The grammar is in plan.h. */
#ifndef PLAN_ARGUMENTS_H
#define PLAN_ARGUMENTS_H

#include "plan/expression.h"
#include "plan/plan.h"

enum {
    ARGUMENT_NAMES = 64,
    ARGUMENT_DEPTH = 16,
    ARGUMENT_LARGEST_BYTES = 1 << 15 /* PTX allows 32,764 bytes of parameters */
};

typedef struct Span { /* a piece of the text */
    const char *text;
    size_t length;
} Span;

typedef struct ArgumentReader {
    Plan *plan;
    PlanLaunch *launch;
    const PtxFunction *entry;
    ExpressionName names[ARGUMENT_NAMES]; /* n, block, grid, then the named scalars */
    int name_count;
    int depth;        /* number of structures around the item */
    PlanTyped source; /* the whole text, which errors show */
    Error *error;
} ArgumentReader;

typedef enum ItemKind { ITEM_NUMBER, ITEM_POINTER, ITEM_BYTES } ItemKind;

typedef struct ItemMember { /* of a structure, those of structures within it by themselves */
    int at, bytes;
    bool is_pointer, is_float;
} ItemMember;

typedef struct Item { /* an item before its parameter is known */
    ItemKind kind;
    ExpressionValue value; /* NUMBER */
    PtxType cast;          /* of "(char)7"; NO_TYPE: none */
    int buffer;            /* POINTER; -1: null */
    uint64_t offset;       /* bytes into it */
    const uint8_t *bytes;  /* BYTES: a structure; in the plan's arena */
    int byte_count;
    const PlanPointer *pointers; /* that are among them */
    int pointer_count;
    int alignment;      /* 0: of bytes that came from a file */
    const char *places; /* of its members, "0, 8, 12"; NULL as above */
    const ItemMember *members;
    int member_count;
} Item;

/* ---- arguments_text.c ---- */

Span argument_trim(Span span);
Span argument_cut(Span span, size_t begin, size_t end); /* trimmed; empty unless begin < end */
size_t argument_find(Span span, char wanted);           /* span.length if it is missing */
size_t argument_end(Span list);                         /* the first comma outside brackets, or the end */
int argument_shown(Span span);                          /* precision for "%.*s" */
bool argument_equals(Span span, const char *text);
bool argument_begins(Span span, const char *text);
bool argument_is_name(Span span);

/* Fills the reader's error with the option's name, the message, and the place; returns false. */
bool argument_fail(const ArgumentReader *reader, Span at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool argument_evaluate(ArgumentReader *reader, Span span, ExpressionValue *value);
int argument_buffer(const ArgumentReader *reader, Span name); /* -1: not found */

/* ---- arguments_buffer.c ---- */

/* A new buffer: TYPE[COUNT]:FILL, where `bracket` is the place of '[', or @FILE.npy. -1 with the error. */
int argument_new_buffer(ArgumentReader *reader, Span name, Span value, size_t bracket);
int argument_array_file(ArgumentReader *reader, Span name, Span path);

/* ---- arguments_item.c ---- */

bool argument_item(ArgumentReader *reader, Span span, Item *item);

/* ---- arguments_tensor.c ---- */

/* A tensor map of the buffer; `list`: what follows its name in `span`, the item. */
bool argument_tensor(ArgumentReader *reader, Span span, Span list, int buffer, Item *item);

/* ---- arguments_members.c ---- */

/* True if the loads of the (parsed) entry match the members of the structure; else the error names the place.
 */
bool argument_check_members(ArgumentReader *reader, Span span, const PtxVariable *parameter,
                            const Item *item);

#endif
