#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/ptx/ptx_test.h"

const char *const body_prologue = ".version 7.8\n"
                                  ".target sm_80\n"
                                  ".address_size 64\n"
                                  ".global .u64 table[8];\n"
                                  ".func (.param .b32 result) callee(.param .b32 x) { ret; }\n"
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
        if (function->statements[i].kind == PTX_STATEMENT_INSTRUCTION && index-- == 0) return function->statements[i].instruction;
    fail_msg("entry k has fewer instructions");
    return NULL;
}
