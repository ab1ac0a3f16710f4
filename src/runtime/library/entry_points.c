/* The exported functions: the tables of rows, made into functions.
 *
 * All have the parameters that CUDA gives them, or the first of these where the others do not matter;
 * pointers to CUDA's structures are `void *`. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include "runtime/library/client.h"

#define EXPORT __attribute__((visibility("default")))
#define CALLER ((uintptr_t)__builtin_return_address(0))

static int set(int *to, int value) {
    *to = value;
    return 0;
}

/* Dependencies with data of their own, as of programmatic launches, do not exist here. */
static void no_edges(void **edges) {
    if (edges != NULL) *edges = NULL;
}

/* Sends it at once: the program may free the image. */
static int module_load(Module **module, Module *loaded) {
    *module = loaded;
    return loaded != NULL ? module_send(loaded) : cudaErrorFileNotFound;
}

static int function_get_name(const char **name, const void *stub) {
    KernelFunction *function = NULL;
    int error = function_get(&function, stub);
    if (error == 0) *name = function_name(function);
    return error;
}

/* Functions may have other parameters than another library's header says of their names. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC diagnostic ignored "-Wunused-value"
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wattribute-alias"
#endif

#define CALL(name, way, ...)                                                                                 \
    int error = library_enter(name, __builtin_return_address(0), way);                                       \
    if (error == 0) error = (__VA_ARGS__);                                                                   \
    return library_leave(error)
#define ENTRY(name, parameters, ...)                                                                         \
    EXPORT int name parameters;                                                                              \
    EXPORT int name parameters {                                                                             \
        CALL(#name, ENTER_CALL, __VA_ARGS__);                                                                \
    }
#define QUERY(name, parameters, ...)                                                                         \
    EXPORT int name parameters;                                                                              \
    EXPORT int name parameters {                                                                             \
        CALL(#name, ENTER_QUERY, __VA_ARGS__);                                                               \
    }
#define PLAIN(type, name, parameters, ...)                                                                   \
    EXPORT type name parameters;                                                                             \
    EXPORT type name parameters {                                                                            \
        library_enter(#name, NULL, ENTER_PLAIN);                                                             \
        type result = (__VA_ARGS__);                                                                         \
        library_leave(0);                                                                                    \
        return result;                                                                                       \
    }

/* A function of one version of libcudart; that of 13 is also the one without a version. */
#define NODE_11 "@libcudart.so.11.0"
#define NODE_12 "@libcudart.so.12"
#define NODE_13 "@@libcudart.so.13"
#define ENTRY_AT(name, version, parameters, ...)                                                             \
    EXPORT int name##_in_##version parameters;                                                               \
    EXPORT int name##_in_##version parameters {                                                              \
        CALL(#name, ENTER_CALL, __VA_ARGS__);                                                                \
    }                                                                                                        \
    __asm__(".symver " #name "_in_" #version "," #name NODE_##version);

#define ALIAS(name, other) EXPORT extern __typeof__(name) other __attribute__((alias(#name)));
/* ALSO(name, others...): up to 17 others. */
#define ALSO_1(name, other)       ALIAS(name, other)
#define ALSO_2(name, other, ...)  ALIAS(name, other) ALSO_1(name, __VA_ARGS__)
#define ALSO_3(name, other, ...)  ALIAS(name, other) ALSO_2(name, __VA_ARGS__)
#define ALSO_4(name, other, ...)  ALIAS(name, other) ALSO_3(name, __VA_ARGS__)
#define ALSO_5(name, other, ...)  ALIAS(name, other) ALSO_4(name, __VA_ARGS__)
#define ALSO_6(name, other, ...)  ALIAS(name, other) ALSO_5(name, __VA_ARGS__)
#define ALSO_7(name, other, ...)  ALIAS(name, other) ALSO_6(name, __VA_ARGS__)
#define ALSO_8(name, other, ...)  ALIAS(name, other) ALSO_7(name, __VA_ARGS__)
#define ALSO_9(name, other, ...)  ALIAS(name, other) ALSO_8(name, __VA_ARGS__)
#define ALSO_10(name, other, ...) ALIAS(name, other) ALSO_9(name, __VA_ARGS__)
#define ALSO_11(name, other, ...) ALIAS(name, other) ALSO_10(name, __VA_ARGS__)
#define ALSO_12(name, other, ...) ALIAS(name, other) ALSO_11(name, __VA_ARGS__)
#define ALSO_13(name, other, ...) ALIAS(name, other) ALSO_12(name, __VA_ARGS__)
#define ALSO_14(name, other, ...) ALIAS(name, other) ALSO_13(name, __VA_ARGS__)
#define ALSO_15(name, other, ...) ALIAS(name, other) ALSO_14(name, __VA_ARGS__)
#define ALSO_16(name, other, ...) ALIAS(name, other) ALSO_15(name, __VA_ARGS__)
#define ALSO_17(name, other, ...) ALIAS(name, other) ALSO_16(name, __VA_ARGS__)
#define ALSO_CHOSEN(a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, chosen,  \
                    ...)                                                                                     \
    chosen
#define ALSO(...)                                                                                            \
    ALSO_CHOSEN(__VA_ARGS__, ALSO_17, ALSO_16, ALSO_15, ALSO_14, ALSO_13, ALSO_12, ALSO_11, ALSO_10, ALSO_9, \
                ALSO_8, ALSO_7, ALSO_6, ALSO_5, ALSO_4, ALSO_3, ALSO_2, ALSO_1, 0)                           \
    (__VA_ARGS__)

#include "runtime/library/runtime.def"
#include "runtime/library/graph.def"
#include "runtime/library/driver_calls.def"

/* A function of nvJitLink 13, also under the name that its header calls. Its failures are no CUDA errors. */
#define LINKER(name, parameters, ...)                                                                        \
    EXPORT int name##_in_linker parameters;                                                                  \
    EXPORT int name##_in_linker parameters {                                                                 \
        int error = library_enter("nvJitLink" #name, __builtin_return_address(0), ENTER_QUERY);              \
        if (error == 0) error = (__VA_ARGS__);                                                               \
        library_leave(0);                                                                                    \
        return error;                                                                                        \
    }                                                                                                        \
    EXPORT extern __typeof__(name##_in_linker) name##_13_in_linker                                           \
        __attribute__((alias(#name "_in_linker")));                                                          \
    __asm__(".symver " #name "_in_linker,nvJitLink" #name "@@libnvJitLink.so.13");                           \
    __asm__(".symver " #name "_13_in_linker,__nvJitLink" #name "_13_0@@libnvJitLink.so.13");
#include "runtime/library/jit_linker.def"

#define LACKS(name) ENTRY(name, (void), lacks(#name))
#include "runtime/library/unsupported.def"

/* Of the errors: these neither fail nor set the last error. */
EXPORT const char *cudaGetErrorName(int error);
EXPORT const char *cudaGetErrorName(int error) {
    return error_name(error, false);
}

EXPORT const char *cudaGetErrorString(int error);
EXPORT const char *cudaGetErrorString(int error) {
    return error_words(error);
}

PLAIN(int, cudaGetLastError, (void), error_last(true))
PLAIN(int, cudaPeekAtLastError, (void), error_last(false))
