/* The choice of a kernel in a file, and of the launch in the file that is its launch. */
#include "guess/guess_state.h"

#include "base/memory.h"
#include "ptx/ptx_check.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

HostCode *guess_host_code(const GuessRequest *request) {
    return request->file && text_is_cuda_source(request->file) ? host_code_open(request->file) : NULL;
}

const char *guess_instance(const GuessRequest *request, Arena *arena) {
    HostCode *code = guess_host_code(request);
    const char *instance = NULL;
    for (int i = 0; code && i < host_code_launch_count(code) && !instance; i++) {
        const HostLaunch *launch = host_code_launch(code, i);
        if (launch->arguments) instance = arena_print(arena, "%s<%s>", launch->kernel, launch->arguments);
    }
    host_code_free(code);
    return instance;
}

bool guess_parse(Guess *guess, PtxFunction *entry, Error *error) {
    for (int i = 0; i < guess->checked_count; i++)
        if (guess->checked[i] == entry) return true;
    PtxModule *module = guess->request.module;
    PtxProgram *program =
        ptx_function_parse(module, entry, error) ? ptx_program_link(module, entry, error) : NULL;
    bool good = program && ptx_program_check(program, error);
    ptx_program_free(program);
    if (good) array_push(guess->checked, guess->checked_count, guess->checked_capacity, entry);
    return good;
}

const char *guess_bare_name(Guess *guess, const PtxFunction *entry) {
    const char *readable = ptx_readable_name(guess->request.module, entry->name);
    size_t bare = strcspn(readable, "<("), begin = bare;
    while (begin > 0 && readable[begin - 1] != ':') begin--;
    return arena_copy_text(&guess->arena, readable + begin, bare - begin);
}

/* The kernel of the module that a launch is of; NULL: none. */
static PtxFunction *entry_of_launch(Guess *guess, const HostLaunch *launch) {
    PtxModule *module = guess->request.module;
    Error ignored = {0};
    if (launch->arguments) {
        const char *whole = arena_print(&guess->arena, "%s<%s>", launch->kernel, launch->arguments);
        PtxFunction *exact = ptx_module_find_entry(module, whole, &ignored);
        if (exact) return exact;
    }
    for (int i = 0; i < module->function_count; i++) {
        PtxFunction *function = module->functions[i];
        if (function->is_entry && function->has_body &&
            !strcmp(guess_bare_name(guess, function), launch->kernel))
            return function;
    }
    return NULL;
}

const HostLaunch *guess_find_launch(Guess *guess, HostCode *code, const PtxFunction *entry) {
    for (int i = 0; code && i < host_code_launch_count(code); i++)
        if (entry_of_launch(guess, host_code_launch(code, i)) == entry) return host_code_launch(code, i);
    return NULL;
}

/* Of the kernels that the file itself names: those of libraries that it includes are not the user's. */
static PtxFunction *choose_entry(Guess *guess, HostCode *code, int *count) {
    PtxModule *module = guess->request.module;
    PtxFunction *first = NULL;
    size_t place = SIZE_MAX;
    *count = 0;
    for (int i = 0; i < module->function_count; i++) {
        PtxFunction *entry = module->functions[i];
        if (!entry->is_entry || !entry->has_body) continue;
        size_t at = host_code_place(code, guess_bare_name(guess, entry));
        if (at == SIZE_MAX) continue;
        ++*count;
        if (at < place) first = entry;
        if (at < place) place = at;
    }
    for (int i = 0; i < host_code_launch_count(code); i++) {
        PtxFunction *entry = entry_of_launch(guess, host_code_launch(code, i));
        if (entry && host_code_place(code, guess_bare_name(guess, entry)) != SIZE_MAX) return entry;
    }
    return first;
}

/* `reduce<float, 2 * N>`: the compiler spells its instance otherwise, and has made no other one of its
 * template. */
static PtxFunction *find_instance(Guess *guess, Error *error) {
    const GuessRequest *request = &guess->request;
    PtxFunction *entry = ptx_module_find_entry(request->module, request->entry, error);
    if (entry || !strchr(request->entry, '<') || !text_is_cuda_source(request->file)) return entry;
    const char *bare = arena_copy_text(&guess->arena, request->entry, strcspn(request->entry, "<"));
    Error ignored = {0};
    entry = ptx_module_find_entry(request->module, bare, &ignored);
    if (entry && error) *error = (Error){0};
    return entry;
}

/* Why the file has no kernel that could be taken. */
static void refuse(const GuessRequest *request, HostCode *code, Error *error) {
    Text instance = {0};
    if (host_code_template(code, &instance))
        error_set_at(
            error, request->file, 0, 0,
            "its kernel %.*s is a template that the file does not launch; name an instance: --entry '%s'",
            (int)strcspn(text_string(&instance), "<"), text_string(&instance), text_string(&instance));
    else
        error_set_at(error, request->file, 0, 0, "no kernel in this file");
    text_done(&instance);
}

void guess_refuse(const GuessRequest *request, Error *error) {
    HostCode *code = guess_host_code(request);
    if (code) refuse(request, code, error);
    host_code_free(code);
}

PtxFunction *guess_find_entry(Guess *guess, HostCode *code, bool *is_choice, Error *error) {
    const GuessRequest *request = &guess->request;
    int count;
    *is_choice = false;
    if (request->entry) return find_instance(guess, error);
    if (!code) return ptx_module_find_entry(request->module, NULL, error);
    PtxFunction *entry = choose_entry(guess, code, &count);
    *is_choice = count > 1;
    if (!entry) refuse(request, code, error);
    return entry;
}
