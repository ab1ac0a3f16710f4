#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/ptx/ptx_test.h"
#include "tests/ptx/same_ir.h"

#include <stdlib.h>

const char *const body_prologue =
    ".version 7.8\n"
    ".target sm_80\n"
    ".address_size 64\n"
    ".global .u64 table[8];\n"
    ".func (.param .b32 result) callee(.param .b32 x) { ret; } .extern .func outside(); "
    ".extern .func cudaLaunchDeviceV2();\n"
    ".entry k(.param .u32 n, .param .u64 in) {\n"
    ".reg .pred %p<10>; .reg .b16 %h<10>; .reg .b32 %r<10>; .reg .b64 %rd<10>;\n"
    ".reg .f32 %f<10>; .reg .f64 %fd<10>; .reg .v2 .f32 pair;\n"
    ".shared .u32 tile[64];\n";
const int body_line = 10;

PtxModule *parse_module(const char *text) {
    Error error = {0};
    PtxModule *module = ptx_module_parse(text, strlen(text), "test.ptx", &error);
    if (!module || !ptx_module_parse_all(module, &error)) {
        error_print(&error, stderr);
        fail_msg("%s", error.message);
    }
    return module;
}

PtxModule *parse_body(const char *body) {
    Text text = {0};
    text_print(&text, "%s%s\n}\n", body_prologue, body);
    PtxModule *module = parse_module(text_string(&text));
    text_done(&text);
    return module;
}

const PtxInstruction *instruction_of(const PtxModule *module, int index) {
    const PtxFunction *function = ptx_module_find(module, "k");
    for (int i = 0; i < function->statement_count; i++)
        if (function->statements[i].kind == PTX_STATEMENT_INSTRUCTION && index-- == 0)
            return function->statements[i].instruction;
    fail_msg("entry k has fewer instructions");
    return NULL;
}

void check_prints_back(PtxModule *module) {
    Error error = {0};
    Text first = {0}, second = {0};
    PtxModule *again = NULL;
    if (ptx_module_print(module, &first, &error))
        again = ptx_module_parse(text_string(&first), first.length, "printed.ptx", &error);
    if (!again || !ptx_module_print(again, &second, &error)) {
        error_print(&error, stderr);
        fail_msg("%s, printed: %s", module->file, error.message);
    }
    const char *difference = again ? same_module(module, again) : "everything";
    if (difference) fail_msg("%s, printed, differs in %s", module->file, difference);
    if (strcmp(text_string(&first), text_string(&second)) != 0)
        fail_msg("%s prints as another text again", module->file);
    text_done(&first);
    text_done(&second);
    ptx_module_free(again);
}

char *printed(const char *text) {
    Error error = {0};
    Text out = {0};
    PtxModule *module = parse_module(text);
    assert_true(ptx_module_print(module, &out, &error));
    ptx_module_free(module);
    char *result = memory_copy_text(text_string(&out));
    text_done(&out);
    return result;
}

PtxProgram *link_entry(PtxModule *module, const char *entry) {
    Error error = {0};
    PtxFunction *function = ptx_module_find_entry(module, entry, &error);
    PtxProgram *program = function ? ptx_program_link(module, function, &error) : NULL;
    if (!program) {
        error_print(&error, stderr);
        fail_msg("%s", error.message);
    }
    return program;
}

void error_of(const char *text, Error *error) {
    *error = (Error){0};
    PtxModule *module = ptx_module_parse(text, strlen(text), "test.ptx", error);
    bool good = module && ptx_module_parse_all(module, error);
    PtxFunction *entry = good ? ptx_module_find_entry(module, NULL, error) : NULL;
    PtxProgram *program = entry ? ptx_program_link(module, entry, error) : NULL;
    ptx_program_free(program);
    ptx_module_free(module);
    if (program) fail_msg("no error for: %s", text);
}

const char *find_ptxas(void) {
    static const char *const places[] = {"ptxas", "/usr/local/cuda/bin/ptxas"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        char command[256];
        snprintf(command, sizeof command, "%s --version >/dev/null 2>&1", places[i]);
        if (system(command) == 0) return places[i];
    }
    return NULL;
}
