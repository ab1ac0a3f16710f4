/* NVRTC beside this library. Programs ask it for machine code of the GPU that they find; here they get PTX in
 * its place, which cuModuleLoadData() takes as well. A copy of NVRTC that a program loads itself (dlopen), or
 * has built in, is not changed. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "runtime/library/client.h"

#define EXPORT __attribute__((visibility("default")))
EXPORT int nvrtcCompileProgram(void *program, int count, const char *const *options);
EXPORT int nvrtcGetCUBINSize(void *program, size_t *bytes);
EXPORT int nvrtcGetCUBIN(void *program, char *code);

enum { NVRTC_ERROR_OUT_OF_MEMORY = 1, NVRTC_ERROR_INTERNAL_ERROR = 11 };

/* The function of NVRTC; NULL: the program has none. */
static void *real(const char *name) {
    return dlsym(RTLD_NEXT, name);
}

/* "--gpu-architecture=sm_90" -> "--gpu-architecture=compute_90", in memory of its own, and so "sm_90" alone,
 * behind such an option; NULL: as it is. */
static char *virtual_architecture(const char *option) {
    static const char *const names[] = {"--gpu-architecture", "-arch"};
    const char *at = option;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(option, names[i], strlen(names[i])) == 0) at = option + strlen(names[i]);
    at += *at == '=';
    if (strncmp(at, "sm_", strlen("sm_")) != 0) return NULL;
    size_t bytes = strlen(option) + sizeof "compute_";
    char *changed = malloc(bytes);
    if (changed != NULL)
        snprintf(changed, bytes, "%.*scompute_%s", (int)(at - option), option, at + strlen("sm_"));
    return changed;
}

EXPORT int nvrtcCompileProgram(void *program, int count, const char *const *options) {
    int (*compile)(void *, int, const char *const *);
    void *symbol = real("nvrtcCompileProgram");
    const char **own = malloc(((size_t)(count > 0 ? count : 0) + 1) * sizeof *own);
    if (symbol == NULL || own == NULL) {
        free(own);
        return symbol == NULL ? NVRTC_ERROR_INTERNAL_ERROR : NVRTC_ERROR_OUT_OF_MEMORY;
    }
    memcpy(&compile, &symbol, sizeof compile);
    for (int i = 0; i < count; i++) {
        char *changed = virtual_architecture(options[i]);
        own[i] = changed != NULL ? changed : options[i];
    }
    int error = compile(program, count, own);
    for (int i = 0; i < count; i++)
        if (own[i] != options[i]) free((void *)(uintptr_t)own[i]);
    free(own);
    return error;
}

static int give(const char *name, void *program, void *out) {
    int (*function)(void *, void *);
    void *symbol = real(name);
    if (symbol == NULL) return NVRTC_ERROR_INTERNAL_ERROR;
    memcpy(&function, &symbol, sizeof function);
    return function(program, out);
}

EXPORT int nvrtcGetCUBINSize(void *program, size_t *bytes) {
    return give("nvrtcGetPTXSize", program, bytes);
}

EXPORT int nvrtcGetCUBIN(void *program, char *code) {
    return give("nvrtcGetPTX", program, code);
}
