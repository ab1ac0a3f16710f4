/* Host code: what a CUDA C++ file says literally: its kernels, its launches (`kernel<<<grid, block,
 * shared>>>(...)`, cudaLaunchKernel(), cudaLaunchCooperativeKernel()), and numbers: literals, #define, const,
 * constexpr, dim3.
 *
 * Not a compiler: a name with one such definition is that number, whatever scope it stands in; nothing else
 * is followed. */
#ifndef GUESS_HOST_CODE_H
#define GUESS_HOST_CODE_H

#include "base/memory.h"
#include "base/text.h"
#include "plan/expression.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HOST_ARGUMENTS = 64 };

typedef struct HostLaunch { /* texts as written */
    const char *kernel;     /* its name, without namespaces */
    const char *arguments;  /* of its template, "float, 256"; NULL: none */
    int line;
    const char *grid, *block, *shared; /* "": not given */
    const char *items[HOST_ARGUMENTS]; /* the arguments */
    int item_count;
    bool is_cooperative;
} HostLaunch;

typedef struct HostCode HostCode;

/* Copies `text`. */
HostCode *host_code_read(const char *text);
/* FILE.cu, and after it the headers beside it that it includes in quotes: their constants count, too. NULL:
 * it cannot be read. */
HostCode *host_code_open(const char *path);
void host_code_free(HostCode *code);

int host_code_launch_count(const HostCode *code);
const HostLaunch *host_code_launch(const HostCode *code, int index);
bool host_code_has_main(const HostCode *code);

/* Where the file defines a kernel of this name; else where it names it; SIZE_MAX: it does not. */
size_t host_code_place(const HostCode *code, const char *kernel);
/* Parameter `index` of this kernel, of those that have `count`, "const float *x": true. Texts are added. */
bool host_code_parameter(const HostCode *code, const char *kernel, int index, int count, Text *type,
                         Text *name);
/* An instance of the first kernel that is a template, "space::reduce<float, 256>": the defaults of its
 * parameters, else a float, and 256 of numbers. False: there is none. */
bool host_code_template(const HostCode *code, Text *out);

/* The number that an expression is; `n`: the number that one name stands for, or NULL. False: it is not
 * literal. */
bool host_code_number(HostCode *code, const char *expression, const ExpressionName *n,
                      ExpressionValue *value);
/* The same of a dim3, or of a number: the other dimensions are 1. */
bool host_code_size(HostCode *code, const char *expression, const ExpressionName *n, uint32_t size[3]);
/* The elements of the host's array NAME, `float NAME[4096]`; 0: there is none of a literal length. */
uint64_t host_code_length(HostCode *code, const char *name);

#endif
