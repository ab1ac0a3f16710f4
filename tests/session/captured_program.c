#define _GNU_SOURCE
#include "tests/session/captured_program.h"

#include "runtime/emulated_device.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char ptx[] =
    ".version 7.5\n.target sm_75\n.address_size 64\n"
    ".visible .global .align 4 .u32 counter;\n"
    ".visible .entry add(.param .u64 values, .param .u32 by) {\n"
    ".reg .b32 %r<5>; .reg .b64 %rd<5>;\n"
    ".loc 1 3 0\n"
    "ld.param.u64 %rd1, [values]; ld.param.u32 %r1, [by]; mov.u32 %r2, %tid.x;\n"
    "mul.wide.u32 %rd2, %r2, 4; add.s64 %rd3, %rd1, %rd2;\n"
    ".loc 1 4 0\n"
    "ld.global.u32 %r3, [%rd3]; add.u32 %r3, %r3, %r1; st.global.u32 [%rd3], %r3; ret;\n}\n"
    ".visible .entry total(.param .u64 values, .param .u64 out) {\n"
    ".reg .b32 %r<5>; .reg .b64 %rd<6>;\n"
    ".loc 1 9 0\n"
    "ld.param.u64 %rd1, [values]; ld.param.u64 %rd2, [out]; mov.u32 %r1, %tid.x;\n"
    "mul.wide.u32 %rd3, %r1, 4; add.s64 %rd4, %rd1, %rd3; mov.u64 %rd5, counter;\n"
    "ld.global.u32 %r2, [%rd4]; atom.global.add.u32 %r3, [%rd5], %r2;\n"
    ".loc 1 10 0\n"
    "ld.global.u32 %r4, [%rd2]; add.u32 %r4, %r4, %r3; st.global.u32 [%rd2], %r4; ret;\n}\n"
    ".file 1 \"/nowhere/of/mine/total.cu\"\n";

static uint32_t find(Device *device, const char *name) {
    MessageFunction function = {0};
    MessageParameter *list = NULL;
    device_find_function(device, 1, name, &function, &list);
    assert(!function.error);
    free(list);
    return function.number;
}

static void launch(Device *device, uint32_t function, uint32_t block, int32_t refused, const void *parameters,
                   uint32_t bytes) {
    MessageLaunch asked = {.function = function,
                           .grid = {1, 1, 1},
                           .block = {block, 1, 1},
                           .refused = refused,
                           .parameter_bytes = bytes};
    device_launch(device, &asked, parameters);
}

static uint64_t allocate(Device *device, uint64_t bytes) {
    MessagePlace place;
    device_allocate(device, &(MessageAllocate){.bytes = bytes}, &place);
    return place.address;
}

static void add_faults(Captured *capture) {
    CapturedFault failed = {.kind = CAPTURED_CALL_FAILED,
                            .error = 1,
                            .call = "cudaMemcpy",
                            .what = "512 bytes to memory of 128",
                            .memory = -1,
                            .after = 5,
                            .file = "/nowhere/of/mine/total.cu",
                            .line = 21};
    array_push(capture->faults, capture->fault_count, capture->fault_capacity, failed);
    CapturedFault access = {.kind = CAPTURED_HOST_ACCESS, .call = "read", .memory = 0, .after = 5};
    array_push(capture->faults, capture->fault_count, capture->fault_capacity, access);
}

Program *captured_program_new(void) {
    enum { WINDOW_BYTES = 1 << 20, REFUSED = 9 };
    Error error = {0};
    char path[] = "/tmp/redviz_window_XXXXXX";
    int file = mkstemp(path);
    unlink(path);
    if (file < 0 || ftruncate(file, WINDOW_BYTES)) return NULL;
    Program *program = memory_new(sizeof *program);
    program->capture = captured_new(1 << 20);
    Device *device = device_new(program->capture, file, UINT64_C(1) << 40, WINDOW_BYTES, &error);
    close(file);
    assert(device);
    device_add_module(device, &(MessageModule){1, FORMAT_PTX}, ptx, strlen(ptx));
    uint64_t values = allocate(device, 32 * 4), out = allocate(device, 6000);
    device_note_write(device, &(MessageWrite){.address = values, .bytes = 32 * 4, .kind = WRITE_SET});
    struct {
        uint64_t values;
        uint32_t by, unused;
    } add = {values, 5, 0}, nothing = {values, 0, 0};
    uint64_t total[2] = {values, out};
    uint32_t adds = find(device, "add"), totals = find(device, "total");
    launch(device, adds, 32, 0, &add, 12);
    launch(device, adds, 32, 0, &nothing, 12);
    launch(device, adds, 32, 0, &nothing, 12);
    launch(device, totals, 32, 0, total, sizeof total);
    launch(device, totals, 2048, REFUSED, total, sizeof total);
    device_free(device);
    for (int i = 0; i < program->capture->memory_count; i++)
        if (!program->capture->memories[i].name) program->capture->memories[i].name = i ? "out" : "values";
    add_faults(program->capture);
    program->capture->launches[3].file = "/nowhere/of/mine/total.cu";
    program->capture->launches[3].line = 30;
    program->capture->launches[3].place = "total.cu:30";
    program->has_connected = true;
    program->end = PROGRAM_TIME;
    program->seconds = 2;
    program->largest = "--n=4096";
    text_add(&program->output, "PASSED: 1\n");
    return program;
}
