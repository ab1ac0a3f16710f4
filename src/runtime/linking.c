#include "runtime/linking.h"

#include "runtime/fatbin.h"
#include "runtime/join_ptx.h"

#include "ptx/program.h"

enum { /* cudaError_t */
       GOOD = 0,
       NO_KERNEL_IMAGE = 209,
       INVALID_PTX = 218,
       NOT_SUPPORTED = 801
};

/* Where a text is wrong: "line 12: ...". */
static bool parses(const char *text, size_t length, Error *error) {
    PtxModule *module = ptx_module_parse(text, length, "the linked PTX", error);
    bool good = module && ptx_module_parse_all(module, error);
    ptx_module_free(module);
    return good;
}

static int add_part(Text *module, const MessageLink *asked, const void *part, size_t bytes, Error *error) {
    Text text = {0};
    int result = GOOD;
    if (asked->format == FORMAT_FATBIN) {
        if (!fatbin_find_ptx(part, bytes, FATBIN_NEWEST, &text, NULL, error)) result = NO_KERNEL_IMAGE;
    } else {
        text_add_bytes(&text, part, strnlen(part, bytes));
    }
    if (!result && (!parses(text_string(&text), text.length, error) ||
                    !join_ptx(module, (int)asked->parts, text_string(&text), error)))
        result = INVALID_PTX;
    text_done(&text);
    return result;
}

/* The name of a function that `instruction` needs and nobody has; NULL: none. */
static const char *undefined_in(const PtxInstruction *instruction) {
    for (int i = 0; i < instruction->operand_count; i++) {
        const PtxOperand *operand = &instruction->operands[i];
        const PtxFunction *function = operand->function;
        const PtxVariable *variable = operand->variable;
        if (operand->kind == PTX_OPERAND_FUNCTION && function && !function->has_body && !function->alias_of &&
            !ptx_external_find(function->name))
            return function->name;
        if (variable && variable->is_extern && variable->space != PTX_SPACE_SHARED) return variable->name;
    }
    return NULL;
}

static int complete(Text *text, Error *error) {
    join_ptx_finish(text);
    PtxModule *module = ptx_module_parse(text_string(text), text->length, "the linked PTX", error);
    if (!module || !ptx_module_parse_all(module, error)) {
        ptx_module_free(module);
        return INVALID_PTX;
    }
    const char *name = NULL;
    for (int f = 0; f < module->function_count && !name; f++) {
        const PtxFunction *function = module->functions[f];
        for (int i = 0; i < function->statement_count && !name; i++)
            if (function->statements[i].kind == PTX_STATEMENT_INSTRUCTION)
                name = undefined_in(function->statements[i].instruction);
    }
    /* The device runtime is the only library whose functions begin so. */
    bool launches = name && !strncmp(name, "cuda", 4);
    if (launches) error_set(error, "'%.200s' needs device-side launches (CDP), which are not emulated", name);
    if (name && !launches) error_set(error, "'%.200s' is not defined in any part", name);
    ptx_module_free(module);
    return launches ? NOT_SUPPORTED : name ? NO_KERNEL_IMAGE : GOOD;
}

int linking_add(Text *module, const MessageLink *asked, const void *part, size_t bytes) {
    Error error = {0};
    int result = bytes ? add_part(module, asked, part, bytes, &error) : complete(module, &error);
    if (!result) return result;
    text_clear(module);
    if (error.line) text_print(module, "line %d: ", error.line);
    text_add(module, error.message);
    return result;
}
