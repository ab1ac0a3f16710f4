/* Products that ptxas fuses into several sums (ptx/contract.h). A compensated sum computes the error of a
 * rounding by operations whose own roundings count: an fma in place of a product and a sum changes that
 * error, and the result with it. */
#include "base/language.h"
#include "findings/findings_sentences.h"
#include "ptx/opcodes.h"

#include <string.h>

/* The function of CUDA that rounds a product of this type, and that nothing is fused with. */
static const char *rounded_product(PtxType type) {
    switch (type) {
    case PTX_F64:
        return tr("__dmul_rn() keeps them apart");
    case PTX_F32:
        return tr("__fmul_rn() keeps them apart");
    case PTX_F16X2:
    case PTX_BF16X2:
        return tr("__hmul2_rn() keeps them apart");
    default:
        return tr("__hmul_rn() keeps them apart");
    }
}

typedef struct FusedSums { /* into which one product was fused */
    int additions, subtractions;
} FusedSums;

static FusedSums sums_of(const PtxProgram *program, const PtxInstruction *product) {
    FusedSums sums = {0, 0};
    for (int pc = 0; pc < program->code_count; pc++) {
        const PtxFused *fused = program->code[pc].instruction->fused;
        if (!fused || fused->product != product) continue;
        if (fused->sum->opcode == PTX_sub)
            sums.subtractions++;
        else
            sums.additions++;
    }
    return sums;
}

static void add_sums(const FusedSums *sums, Text *text) {
    if (sums->additions == 1 && sums->subtractions == 1)
        text_add(text, tr("ptxas fuses this product into the addition and the subtraction"));
    else if (!sums->subtractions)
        text_print(text, tr("ptxas fuses this product into %d additions"), sums->additions);
    else if (!sums->additions)
        text_print(text, tr("ptxas fuses this product into %d subtractions"), sums->subtractions);
    else
        text_print(text, tr("ptxas fuses this product into %d additions and subtractions"),
                   sums->additions + sums->subtractions);
}

/* Unrolled loops have a copy of the product in each iteration. */
static bool is_known(const FindingsBuilder *builder, int launch, const FindingAccess *access) {
    for (int i = 0; i < builder->list->count; i++) {
        const Finding *other = &builder->list->items[i];
        if (other->kind == FINDING_FUSED_PRODUCT && other->launch == launch &&
            other->access.line == access->line &&
            !strcmp(other->access.file ? other->access.file : "", access->file ? access->file : ""))
            return true;
    }
    return false;
}

static void add_fused(FindingsBuilder *builder, int launch, int pc, const FusedSums *sums) {
    const PtxProgram *program = builder->trace->launches[launch]->program;
    const PtxCode *code = &program->code[pc];
    const PtxInstruction *product = code->instruction->fused->product;
    FindingAccess access = {.pc = PTX_NO_PC,
                            .file = code->product.line ? code->product.file : program->module->file,
                            .line = code->product.line ? code->product.line : product->line};
    if (is_known(builder, launch, &access)) return;
    Finding *finding = findings_add(builder->list, &builder->capacity, FINDING_FUSED_PRODUCT, launch);
    Text text = {0};
    finding->count = 1;
    finding->access.file = access.file;
    finding->access.line = access.line;
    finding_begin_place(&finding->access, &text);
    add_sums(sums, &text);
    finding->advice = rounded_product(product->types[0]);
    finding->sentence = findings_finish_sentence(builder->list, &text);
}

static bool is_first_of_product(const PtxProgram *program, int pc) {
    const PtxFused *fused = program->code[pc].instruction->fused;
    for (int i = 0; i < pc; i++)
        if (program->code[i].instruction->fused &&
            program->code[i].instruction->fused->product == fused->product)
            return false;
    return true;
}

void findings_add_fused(FindingsBuilder *builder) {
    for (int i = 0; i < builder->trace->launch_count; i++) {
        const PtxProgram *program = builder->trace->launches[i]->program;
        bool is_new = true; /* launches of one entry share a program */
        for (int k = 0; k < i; k++) is_new &= builder->trace->launches[k]->program != program;
        for (int pc = 0; is_new && pc < program->code_count; pc++) {
            const PtxFused *fused = program->code[pc].instruction->fused;
            if (!fused || !is_first_of_product(program, pc)) continue;
            FusedSums sums = sums_of(program, fused->product);
            if (sums.additions + sums.subtractions > 1) add_fused(builder, i, pc, &sums);
        }
    }
}
