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

/* What libcudadevrt defines for a kernel that synchronizes its grid, in PTX of our own: Numba's
 * cg.this_grid().sync() calls these two. A cooperative launch has its grid's workspace in %envreg1 and
 * %envreg2; the counter is its second word. Block 0 adds what makes the highest bit of the counter flip when
 * all blocks have come, as cooperative_groups.h does. */
static const char grid_functions[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .func (.param .b64 handle) cudaCGGetIntrinsicHandle(.param .b32 scope)\n{\n"
    "\t.reg .b64 %value;\n\tld.param.u32 %value, [scope];\n\tst.param.b64 [handle], %value;\n\tret;\n}\n"
    ".visible .func (.param .b32 status) cudaCGSynchronize(.param .b64 handle, .param .b32 flags)\n{\n"
    "\t.reg .pred %p<3>;\n\t.reg .b32 %r<8>;\n\t.reg .b64 %counter;\n"
    "\tmov.u32 %r1, %envreg2;\n\tmov.u32 %r2, %envreg1;\n\tmov.b64 %counter, {%r1, %r2};\n"
    "\tbarrier.sync 0;\n"
    "\tmov.u32 %r1, %tid.x;\n\tmov.u32 %r2, %tid.y;\n\tmov.u32 %r3, %tid.z;\n"
    "\tor.b32 %r1, %r1, %r2;\n\tor.b32 %r1, %r1, %r3;\n"
    "\tsetp.ne.u32 %p1, %r1, 0;\n\t@%p1 bra all_came;\n"
    "\tmov.u32 %r1, %nctaid.x;\n\tmov.u32 %r2, %nctaid.y;\n\tmov.u32 %r3, %nctaid.z;\n"
    "\tmul.lo.u32 %r1, %r1, %r2;\n\tmul.lo.u32 %r1, %r1, %r3;\n\tsub.u32 %r4, 0x80000001, %r1;\n"
    "\tmov.u32 %r1, %ctaid.x;\n\tmov.u32 %r2, %ctaid.y;\n\tmov.u32 %r3, %ctaid.z;\n"
    "\tor.b32 %r1, %r1, %r2;\n\tor.b32 %r1, %r1, %r3;\n"
    "\tsetp.eq.u32 %p2, %r1, 0;\n\tselp.b32 %r4, %r4, 1, %p2;\n"
    "\tatom.add.release.gpu.u32 %r5, [%counter+4], %r4;\n"
    "waits:\n\tld.acquire.gpu.u32 %r6, [%counter+4];\n"
    "\txor.b32 %r7, %r6, %r5;\n\tsetp.ge.s32 %p2, %r7, 0;\n\t@%p2 bra waits;\n"
    "all_came:\n\tbarrier.sync 0;\n\tst.param.b32 [status], 0;\n\tret;\n}\n";

/* The first name that the module uses and nobody defines, in the module's memory; NULL: none. */
static const char *undefined_name(const PtxModule *module) {
    const char *name = NULL;
    for (int f = 0; f < module->function_count && !name; f++) {
        const PtxFunction *function = module->functions[f];
        for (int i = 0; i < function->statement_count && !name; i++)
            if (function->statements[i].kind == PTX_STATEMENT_INSTRUCTION)
                name = undefined_in(function->statements[i].instruction);
    }
    return name;
}

/* `parts` have been joined to `text`. */
static int complete(Text *text, int parts, Error *error) {
    join_ptx_finish(text);
    PtxModule *module = ptx_module_parse(text_string(text), text->length, "the linked PTX", error);
    if (!module || !ptx_module_parse_all(module, error)) {
        ptx_module_free(module);
        return INVALID_PTX;
    }
    const char *name = undefined_name(module);
    bool synchronizes =
        name && (!strcmp(name, "cudaCGGetIntrinsicHandle") || !strcmp(name, "cudaCGSynchronize"));
    /* The device runtime is the only library whose functions begin so. */
    bool launches = name && !synchronizes && !strncmp(name + strspn(name, "_"), "cuda", 4);
    if (launches) error_set(error, "'%.200s' needs device-side launches (CDP), which are not emulated", name);
    if (name && !synchronizes && !launches) error_set(error, "'%.200s' is not defined in any part", name);
    ptx_module_free(module);
    if (synchronizes)
        return join_ptx(text, parts, grid_functions, error) ? complete(text, parts + 1, error) : INVALID_PTX;
    return launches ? NOT_SUPPORTED : name ? NO_KERNEL_IMAGE : GOOD;
}

int linking_add(Text *module, const MessageLink *asked, const void *part, size_t bytes) {
    Error error = {0};
    int result =
        bytes ? add_part(module, asked, part, bytes, &error) : complete(module, (int)asked->parts, &error);
    if (!result) return result;
    text_clear(module);
    if (error.line) text_print(module, "line %d: ", error.line);
    text_add(module, error.message);
    return result;
}
