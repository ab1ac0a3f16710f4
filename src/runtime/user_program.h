/* User program: runs it with redviz's CUDA library and captures its launches, without a GPU.
 *
 * The program is another process: whatever it does (exit, crash, an endless loop), redviz keeps what is known
 * so far. It loads library/ in place of NVIDIA's and speaks to redviz over a socket (messages.h); kernels are
 * executed here, by the emulator. It gets this process's standard input; what it prints is kept. */
#ifndef RUNTIME_PROGRAM_H
#define RUNTIME_PROGRAM_H

#include "base/text.h"
#include "runtime/captured.h"
#include <stdatomic.h>
#include <stdio.h>

typedef struct ProgramOptions {
    const char *const *arguments; /* the program and its arguments, ended by NULL */
    const char *library;          /* the folder of libcudart.so.13 and the others */
    double seconds;               /* until it is stopped; 0: never */
    bool poisons;                 /* cudaMalloc() gives memory full of 0xA5, not zeros */
    bool keeps_going;             /* accesses out of bounds read 0 and write nothing (EmulatorOptions) */
    FILE *prints_to;              /* its output also goes there at once; NULL: it does not */
    uint64_t most_bytes;          /* of kept memory; 0: a quarter of this machine's */
    const atomic_bool *cancel;    /* true stops it; or NULL */
    _Atomic uint64_t *launches;   /* counts the launches as they come; or NULL */
} ProgramOptions;

typedef enum ProgramEnd {
    PROGRAM_EXITED, /* `status` */
    PROGRAM_KILLED, /* by signal `status` */
    PROGRAM_TIME,   /* it was stopped after `seconds` */
    PROGRAM_STOPPED /* by Ctrl-C or `cancel` */
} ProgramEnd;

typedef struct Program {
    Captured *capture; /* borrowed by sessions */
    Text output;       /* standard output and errors, in the order in which they came; the first 16 MB */
    bool prints;       /* the output has also gone to standard output */
    ProgramEnd end;
    int status;
    double seconds;      /* that it ran */
    bool is_judged;      /* its outputs were compared with what they should be */
    bool has_connected;  /* it made a CUDA call */
    const char *largest; /* of its arguments, the one with the largest number; NULL: none has one */
    const char *source;  /* FILE.cu, the only one that redviz has compiled into it; NULL: there is none */
    const char *wrong_result;   /* "3, expected 4": of a call; NULL: it is right, or not checked */
    const char *static_runtime; /* it has NVIDIA's runtime built in: what to do; NULL: it has not */
} Program;

/* Runs it to its end. NULL with `error`: it could not be started. */
Program *program_run(const ProgramOptions *options, Error *error);
void program_free(Program *program);
/* It did not come to its own end with status 0. */
bool program_has_failed(const Program *program);
/* "exited 0", "was ended by signal 11 (Segmentation fault)", "was stopped after 60 s (--time-limit; launch 3,
 * reduce, still ran; a smaller argument '--n=16777216' would help)". */
void program_describe_end(const Program *program, Text *out);

#endif
