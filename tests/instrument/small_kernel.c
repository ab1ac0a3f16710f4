#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "small_kernel.h"

static const char prologue[] =
    "\n{\n"
    ".reg .pred %p<8>;\n.reg .b16 %h<8>;\n.reg .b32 %r<32>;\n.reg .f32 %f<8>;\n.reg .b64 %q<16>;\n"
    ".reg .f64 %d<8>;\n.reg .b32 %t, %l, %b, %n;\n.reg .b64 %out, %base;\n"
    "ld.param.u64 %base, [kernel_out];\n"
    "mov.u32 %t, %tid.x;\nand.b32 %l, %t, 31;\nmov.u32 %b, %ctaid.x;\nmov.u32 %n, %ntid.x;\n"
    "mad.lo.u32 %n, %b, %n, %t;\nmad.wide.u32 %out, %n, 64, %base;\n";
enum { TENSOR_WORDS = 1 << 14 };

PtxModule *small_kernel_parse(const SmallKernel *kernel) {
    Text text = {0};
    Error error = {0};
    text_print(&text,
               ".version %s\n.target sm_90a\n.address_size 64\n%s\n"
               ".visible .entry kernel(.param .u64 kernel_out%s)%s%s%s\n}\n",
               kernel->version ? kernel->version : "8.0", kernel->module ? kernel->module : "",
               kernel->map ? ", .param .align 64 .b8 kernel_map[128]" : "", prologue, kernel->body,
               kernel->has_own_end ? "" : "\nret;");
    PtxModule *module = ptx_module_parse(text_string(&text), text.length, "case.ptx", &error);
    if (!module) fail_msg("%s: %d: %s", kernel->name, error.line, error.message);
    text_done(&text);
    return module;
}

void small_kernel_plan(const SmallKernel *kernel, Plan *plan) {
    Error error = {0};
    *plan = (Plan){0};
    uint32_t grid = kernel->grid ? kernel->grid : 1, block = kernel->block ? kernel->block : 32;
    int out = plan_add_buffer(plan, "out", PTX_U32, (uint64_t)grid * block * 16, FILL_IOTA);
    int tensor = kernel->map ? plan_add_buffer(plan, "tensor", PTX_U32, TENSOR_WORDS, FILL_IOTA) : -1;
    for (int i = 0; i < (kernel->launches ? kernel->launches : 1); i++) {
        PlanLaunch *launch = plan_add_launch(plan, "kernel");
        launch->grid[0] = grid;
        launch->block[0] = block;
        launch->grid[1] = launch->block[1] = kernel->height ? kernel->height : 1;
        launch->grid[2] = launch->block[2] = kernel->depth ? kernel->depth : 1;
        launch->dynamic_shared_bytes = kernel->shared_bytes;
        launch->cooperative = kernel->cooperative;
        if (kernel->cluster)
            memcpy(launch->cluster, (uint32_t[]){kernel->cluster, 1, 1}, sizeof launch->cluster);
        plan_add_pointer(plan, launch, out);
        if (kernel->map) plan_add_tensor(plan, launch, tensor, kernel->map);
    }
    assert_true(plan_fill(plan, 1, &error));
}

Twin small_kernel_run(const SmallKernel *kernel, TwinOptions options) {
    Plan plans[2];
    small_kernel_plan(kernel, &plans[0]);
    small_kernel_plan(kernel, &plans[1]);
    options.what = kernel->name;
    Twin twin = twin_run(small_kernel_parse(kernel), &plans[0], &plans[1], &options);
    twin_expect_same_results(&plans[0], &plans[1], kernel->name);
    plan_free(&plans[0]);
    plan_free(&plans[1]);
    return twin;
}
