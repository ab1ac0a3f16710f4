/* Fuzz target of the PTX front end: index, parse all bodies, link and check every entry, print, parse again,
 * compare. `make fuzz-ptx` builds and runs it. */
#include "ptx/ptx_check.h"
#include "tests/ptx/same_ir.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool good, const char *what, const char *detail) {
    if (good) return;
    fprintf(stderr, "%s: %s\n", what, detail);
    abort();
}

/* An error must say something, and its caret must stand inside the excerpt. */
static void check_error(const Error *error) {
    must(error->message[0] != 0, "an error without a message", error->file);
    must(!error->excerpt[0] || (error->caret >= 1 && (size_t)error->caret <= strlen(error->excerpt) + 1),
         "caret outside of the line", error->message);
}

static void link_all(PtxModule *module) {
    for (int i = 0; i < module->function_count; i++) {
        Error error = {0};
        ptx_readable_name(module, module->functions[i]->name);
        if (!module->functions[i]->is_entry) continue;
        PtxProgram *program = ptx_program_link(module, module->functions[i], &error);
        if (!program || !ptx_program_check(program, &error)) check_error(&error);
        for (int pc = 0; program && pc < program->code_count; pc++) {
            const PtxCode *code = &program->code[pc];
            const PtxProgramFunction *function = &program->functions[code->function];
            must(code->target == PTX_NO_PC ||
                     (code->target >= function->begin && code->target < function->end),
                 "target outside", "");
            must(code->reconvergence == PTX_NO_PC ||
                     (code->reconvergence >= function->begin && code->reconvergence < function->end),
                 "reconvergence outside", "");
        }
        ptx_program_free(program);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Error error = {0};
    PtxModule *module = ptx_module_parse((const char *)data, size, "fuzz.ptx", &error);
    if (!module) {
        check_error(&error);
        return 0;
    }
    link_all(module);
    if (!ptx_module_find_entry(module, "k", &error)) check_error(&error);
    Text text = {0};
    if (ptx_module_print(module, &text, &error)) {
        PtxModule *again = ptx_module_parse(text_string(&text), text.length, "printed.ptx", &error);
        must(again != NULL, "printed text does not parse", error.message);
        must(ptx_module_parse_all(again, &error), "printed body does not parse", error.message);
        const char *difference = same_module(module, again);
        must(!difference, "printed text differs", difference ? difference : "");
        ptx_module_free(again);
    } else {
        check_error(&error);
    }
    text_done(&text);
    ptx_module_free(module);
    return 0;
}
