/* Host code: the launches in the host's part of a CUDA C++ file. They are `kernel<<<grid, block,
 * shared>>>(...)`, cudaLaunchKernel(), cudaLaunchKernelEx(), cudaLaunchCooperativeKernel().
 *
 * Not a compiler: it follows names textually to the definition that stands before the launch: `const int`, assignments,
 * `dim3 block(16, 16)`, #define, enumerators, template arguments, functions that only return an expression, and, for a
 * parameter of the function around the launch, the first call of that function in the file. What it cannot follow
 * (argv, the size of a tensor) is a *free* size; how many elements the run has decides that (host_code_set_n).
 * An evaluation takes bounded time whatever the file says. */
#ifndef GUESS_HOST_CODE_H
#define GUESS_HOST_CODE_H

#include "base/memory.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct HostNumber {
    bool is_known, is_float;
    bool is_free; /* a free size took part */
    int64_t integer;
    double number; /* always, where it is known */
} HostNumber;

enum { HOST_ARGUMENTS = 64 };

typedef struct HostLaunch {
    struct HostCode *code; /* of which it is one */
    const char *kernel;    /* its name, without namespaces */
    const char *arguments; /* of its template, evaluated where they are numbers: "float, 256"; NULL: none */
    int line;
    size_t at;                         /* where the launch stands in the text */
    const char *grid, *block, *shared; /* as written; shared NULL: none */
    const char *items[HOST_ARGUMENTS]; /* the arguments, as written */
    int item_count;
    size_t
        places[HOST_ARGUMENTS + 3]; /* where these stand in the text: the items, then grid, block, shared */
} HostLaunch;

typedef struct HostCode HostCode;

/* Copies `text`. */
HostCode *host_code_read(const char *text);
/* FILE.cu, and after it the headers beside it that it includes in quotes: their constants count, too. NULL: it cannot be
 * read. */
HostCode *host_code_open(const char *path);
void host_code_free(HostCode *code);

int host_code_launch_count(const HostCode *code);
const HostLaunch *host_code_launch(const HostCode *code, int index);

/* `later` is executed whenever `launch` is, after it: it stands in the same braces, under no condition of its own but those
 * that are known to hold. */
bool host_code_follows(HostCode *code, const HostLaunch *launch, const HostLaunch *later);
/* Between these places in the text the host copies to, or sets, what this argument of a launch points to. */
bool host_code_overwrites(const HostCode *code, size_t begin, size_t end, const char *argument);

/* The one loop that the launch stands in, [begin, end) of the text; false: there is none, or several. */
bool host_code_find_loop(HostCode *code, const HostLaunch *launch, size_t *begin, size_t *end);
/* Executes that loop as far as numbers and pointers go, and visits each launch that it comes to: what the launch is given is
 * what it has then. Values last until host_code_forget_loop(). False: the loop is not understood, does not end soon, or `visit`
 * said so. */
typedef bool (*HostVisit)(void *context, const HostLaunch *launch);
bool host_code_repeat(HostCode *code, const HostLaunch *launch, HostVisit visit, void *context);
void host_code_forget_loop(HostCode *code);

/* From now on free sizes are `n`; until then what they decide is not known. */
void host_code_set_n(HostCode *code, uint64_t n);

/* How many different free sizes the launch's arguments are made of: what only its grid is made of is no size of data. */
int host_code_free_sizes(HostCode *code, const HostLaunch *launch);

/* Is the free size that `expression` is made of one of those that decide the grid? */
bool host_code_decides_grid(HostCode *code, const HostLaunch *launch, const char *expression);

/* A grid or a block follows from what the kernel is given, or from numbers: not from other free sizes. Meant for after
 * host_code_set_n(). */
bool host_code_knows_size(HostCode *code, const HostLaunch *launch, const char *expression);

/* The block is a free size by itself, as the grid is made of it, and of nothing that the kernel is given: from now on that one
 * is `threads`. False: it is none such, and nothing changes. */
bool host_code_set_block(HostCode *code, const HostLaunch *launch, uint64_t threads);

/* The value of an expression where the launch stands. */
HostNumber host_code_evaluate(HostCode *code, const HostLaunch *launch, const char *expression);
/* The same of a dim3, or of a number: the other dimensions are 1. False: not all of it is known. */
bool host_code_evaluate_size(HostCode *code, const HostLaunch *launch, const char *expression,
                             uint32_t size[3]);

typedef struct HostPointer {
    size_t identity;  /* the same for arguments that are the same pointer; 0: not known */
    HostNumber bytes; /* that were allocated for it */
} HostPointer;
HostPointer host_code_pointer(HostCode *code, const HostLaunch *launch, int item);

/* Replaces the number that decides how many bytes item `item` of the launch has, so that they become `bytes`; false: it
 * follows from no single number, or, but where `compiled` says that this may be, from one that the kernels are compiled with,
 * and nothing changes. */
bool host_code_resize(HostCode *code, const HostLaunch *launch, int item, uint64_t bytes, bool compiled);

/* Where the function of this readable name ("space::sum<float>") is defined; SIZE_MAX / 4: it is not. */
size_t host_code_place(const HostCode *code, const char *readable);

/* Numbers beside the kernel's definition: __launch_bounds__(256) gives its first; 0: none. */
uint64_t host_code_launch_bound(HostCode *code, const char *kernel);

/* The name of a parameter of this kernel, which has `count` of them: new memory of `arena`; NULL: the file does not say. */
const char *host_code_parameter_name(HostCode *code, const char *kernel, int index, int count, Arena *arena);

/* The value that the definition gives such a parameter where a launch gives none: `int width = 32`. */
HostNumber host_code_default(HostCode *code, const char *kernel, int index, int count);

/* Values from 16 to 1024 of the constants and macros that are named as sizes of blocks are, BLOCK_SIZE, kThreads: each once.
 * How many. */
int host_code_block_sizes(HostCode *code, uint64_t *sizes, int most);

/* Adds `name` with numbers for the enumerators in its template arguments: "sum<int, Op::kMax>" is "sum<int, 1>". */
void host_code_spell(HostCode *code, const char *name, Text *out);

/* Adds the instance that a launch is of, "sum<float, 256>": parameters that its text leaves to be deduced are guessed. False:
 * its kernel is no template of this file. */
bool host_code_complete_instance(HostCode *code, const HostLaunch *launch, Text *out);

/* Adds an instance of the first kernel that is a template, "sum<float, 256>": what its parameters are is guessed. False:
 * there is none. */
bool host_code_guess_instance(HostCode *code, Text *out);

#endif
