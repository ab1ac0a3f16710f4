/* Call: a host function of a file, called from a generated main().
 *
 *   --call 'solve(in=float[n]:random, host mask=int[n]:ones, out=float[1], n)'
 *
 * The items are those of --args (plan/plan.h); `host` marks a pointer to host memory. Without a list, one is
 * proposed from the function's signature: a pointer to const is an input, another pointer an output, the last
 * integer is n. */
#ifndef RUNTIME_CALL_H
#define RUNTIME_CALL_H

#include "plan/plan.h"

typedef struct Call {
    Arena arena;
    const char *function; /* "solve" */
    const char *items;    /* completed, without `host` */
    bool is_proposed;
    bool *is_host; /* [argument] */
    int argument_count;
} Call;

/* Reads the text of --call; a list that it lacks is proposed from `source`, the text of the file. Call
 * call_done() in any case. */
bool call_read(const char *text, const char *source, Call *call, Error *error);
void call_done(Call *call);
/* The names of the host functions that a source text defines outside namespaces, without main: "solve,
 * check". Returns how many. */
int call_list_functions(const char *source, Text *names);
/* Always false: the function to call is not in the file, and which are. */
bool call_refuse_function(const char *name, const char *source, Error *error);
/* The arguments for this n as a plan, whose buffers have no bytes yet; its one launch names the function and
 * the arguments. */
bool call_plan(const Call *call, uint64_t n, Plan *plan, Error *error);
/* The item of this buffer says how it is filled, ":zero" among others. Else it is an output, which holds
 * poison before the call. */
bool call_fills(const Call *call, const char *buffer);
/* The program: it includes FILE.cu (`path`, absolute), takes sizes, files and numbers as its arguments, and
 * writes outputs to files. `before` has its templates. */
void call_write_main(const Call *call, const Plan *plan, const char *path, Text *before, Text *out);

#endif
