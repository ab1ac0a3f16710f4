/* Fuzz target of --args: the first byte selects a kernel, the rest is the text. Accepted text must be laid
 * out as the kernel requires. */
#include "plan/plan.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char module_text[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry scale(.param .u64 in, .param .u64 out, .param .u32 n, .param .f32 by) { ret; }\n"
    ".visible .entry mixed(.param .u8 a, .param .u64 p, .param .u16 b, .param .f64 c, .param .b32 d) { ret; "
    "}\n"
    ".visible .entry structure(.param .align 4 .b8 s[12]) { ret; }\n"
    ".visible .entry none() { ret; }\n"
    ".visible .entry structures(.param .align 8 .b8 s[56], .param .align 1 .b8 f[1], .param .align 16 .b8 "
    "t[32]) { ret; "
    "}\n"
    ".visible .entry many(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d, .param .u64 e) { ret; "
    "}\n"
    ".visible .entry tensors(.param .u64 in, .param .align 64 .b8 s[128], .param .align 64 .b8 t[128]) { "
    "ret; "
    "}\n";

static void check_argument(const Plan *plan, const PlanArgument *argument) {
    if (argument->buffer >= plan->buffer_count) abort();
    for (int i = 0; i < argument->pointer_count; i++) {
        const PlanPointer *pointer = &argument->pointers[i];
        if (pointer->buffer < 0 || pointer->buffer >= plan->buffer_count) abort();
        if (pointer->at % 8 || pointer->at + 8 > argument->byte_count) abort();
    }
}

static void check_accepted(Plan *plan, const PlanLaunch *launch, PtxFunction *entry) {
    Error error = {0};
    Launch bound = {0};
    PtxProgram program = {.entry = entry};
    uint64_t *addresses = calloc((size_t)plan->buffer_count + 1, sizeof *addresses);
    if (launch->argument_count != entry->parameter_count) abort();
    for (int i = 0; i < launch->argument_count; i++) check_argument(plan, &launch->arguments[i]);
    if (!plan_bind_launch(launch, &program, addresses, &bound, &error) && !error.message[0]) abort();
    for (int i = 0; i < plan->buffer_count; i++)
        if (!plan->buffers[i].count || !plan->buffers[i].name[0]) abort();
    launch_done(&bound);
    free(addresses);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static PtxModule *module;
    Error error = {0};
    if (!module) module = ptx_module_parse(module_text, sizeof module_text - 1, "args.ptx", &error);
    if (!module || !size) return 0;
    PtxFunction *entry = module->functions[data[0] % module->function_count];
    char *text = malloc(size);
    memcpy(text, data + 1, size - 1);
    text[size - 1] = 0;
    Plan plan = {0};
    PlanLaunch *launch = plan_add_launch(&plan, entry->name);
    PlanVariables variables = {1000, 256, 4};
    if (plan_parse_arguments(&plan, launch, entry, text, &variables, &error))
        check_accepted(&plan, launch, entry);
    else if (!error.message[0])
        abort();
    plan_free(&plan);
    free(text);
    return 0;
}
