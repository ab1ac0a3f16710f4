/* Shared code of all tables: buffers, launches, references and error bounds. */
#include "catalog/rows.h"

#include "base/text.h"
#include "plan/loops.h"
#include "catalog/rows.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

bool rows_accept_power_of_two(uint32_t block) {
    return block && (block & (block - 1)) == 0;
}
bool rows_accept_whole_warps(uint32_t block) {
    return block && block % 32 == 0;
}

int64_t rows_parameter(const CatalogRun *run, const char *name) {
    for (int i = 0; i < CATALOG_PARAMETERS && run->row->parameters[i].name; i++)
        if (strcmp(run->row->parameters[i].name, name) == 0) return run->parameters[i];
    assert(!"the row has this parameter");
    return 0;
}

/* ---- plans ------------------------------------------------------------------------------------------ */

/* As in C++: "int", "float", "__half", "__nv_bfloat16", ... */
static const char *type_name(PtxType type) {
    switch (type) {
    case PTX_S8:
        return "char";
    case PTX_U8:
        return "unsigned char";
    case PTX_S16:
        return "short";
    case PTX_U16:
        return "unsigned short";
    case PTX_U32:
        return "unsigned int";
    case PTX_F16:
        return "__half";
    case PTX_BF16:
        return "__nv_bfloat16";
    default:
        return plan_type_name(type);
    }
}

/* "Sum", "Min", "Max", "ArgMax" */
static const char *operation_name(const char *op) {
    static const char *const names[][2] = {{"min", "Min"}, {"max", "Max"}, {"argmax", "ArgMax"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(op, names[i][0]) == 0) return names[i][1];
    return "Sum";
}

const char *rows_entry(Plan *plan, const CatalogRun *run, const char *function, const char *more) {
    return arena_print(&plan->arena, "%s<%s,%s%s%s>", function, type_name(run->dtype),
                       operation_name(run->op), more ? "," : "", more ? more : "");
}

const char *rows_typed_entry(Plan *plan, const CatalogRun *run, const char *function) {
    return arena_print(&plan->arena, "%s<%s>", function, type_name(run->dtype));
}

int rows_add_input(Plan *plan, const CatalogRun *run, uint64_t count) {
    int index = plan_add_buffer(plan, "in", run->dtype, count, run->fill);
    plan->buffers[index].path = run->fill_path;
    plan->buffers[index].whole_numbers = run->whole_numbers;
    return index;
}

int rows_add_output(Plan *plan, const char *name, PtxType type, uint64_t count) {
    return plan_add_buffer(plan, name, type, count, FILL_ZERO);
}

PlanLaunch *rows_add_launch(Plan *plan, const char *entry, uint32_t grid, uint32_t block,
                            uint32_t shared_bytes) {
    PlanLaunch *launch = plan_add_launch(plan, entry);
    launch->grid[0] = grid;
    launch->block[0] = block;
    launch->dynamic_shared_bytes = shared_bytes;
    return launch;
}

void rows_add_u32(Plan *plan, PlanLaunch *launch, uint32_t value) {
    plan_add_scalar(plan, launch, &value, 4);
}
void rows_add_f32(Plan *plan, PlanLaunch *launch, float value) {
    plan_add_scalar(plan, launch, &value, 4);
}

uint32_t rows_blocks(uint64_t n, uint64_t per_block) {
    uint64_t blocks = (n + per_block - 1) / per_block;
    return blocks ? (uint32_t)blocks : 1;
}

void rows_identity(PtxType type, const char *op, void *bytes) {
    bool is_min = strcmp(op, "min") == 0, is_max = strcmp(op, "max") == 0;
    int bits = 8 * ptx_type_bytes(type);
    uint64_t value = 0;
    if (ptx_type_is_float(type)) {
        plan_element_set(type, bytes, 0, is_min ? INFINITY : is_max ? -INFINITY : 0);
        return;
    }
    if (ptx_type_is_signed(type))
        value = is_min ? ((uint64_t)1 << (bits - 1)) - 1 : is_max ? (uint64_t)1 << (bits - 1) : 0;
    else
        value = is_min ? UINT64_MAX : 0;
    for (int i = 0; i < bits / 8; i++) ((uint8_t *)bytes)[i] = (uint8_t)(value >> (8 * i));
}

/* ---- references ------------------------------------------------------------------------------------- */

double rows_input(const Plan *filled, uint64_t i) {
    return plan_element(filled->buffers[0].type, filled->buffers[0].bytes, i);
}

long double rows_fold(const CatalogRun *run, const Plan *filled, uint64_t begin, uint64_t count,
                      uint64_t step, long double *magnitude) {
    Reference sum = {0};
    double extreme = rows_input(filled, begin);
    bool is_minimum = !strcmp(run->op, "min");
    for (uint64_t k = 0; k < count; k++) {
        double x = rows_input(filled, begin + k * step);
        reference_add(&sum, x);
        if (is_minimum ? x < extreme : x > extreme) extreme = x;
    }
    *magnitude = sum.magnitude;
    return strcmp(run->op, "sum") ? (long double)extreme : reference_sum(&sum);
}

/* Modulo 2^64, a multiple of every integer type's modulus. */
static long double fold_integers(PtxType type, const void *bytes, uint64_t count) {
    uint64_t sum = 0;
    if (loops_sum(type, bytes, count, &sum)) return (long double)(int64_t)sum;
    for (uint64_t i = 0; i < count; i++) sum += (uint64_t)(int64_t)plan_element(type, bytes, i);
    return (long double)(int64_t)sum;
}

static long double fold_floats(PtxType type, const void *bytes, uint64_t count, long double *magnitude) {
    Reference sum = {0};
    for (uint64_t i = 0; i < count; i++) reference_add(&sum, plan_element(type, bytes, i));
    *magnitude = sum.magnitude;
    return reference_sum(&sum);
}

static long double fold(PtxType type, const char *op, const void *bytes, uint64_t count,
                        long double *magnitude) {
    bool is_min = strcmp(op, "min") == 0, is_max = strcmp(op, "max") == 0;
    *magnitude = 0;
    if (!is_min && !is_max)
        return ptx_type_is_float(type) ? fold_floats(type, bytes, count, magnitude)
                                       : fold_integers(type, bytes, count);
    double extreme = is_min ? INFINITY : -INFINITY;
    int64_t least, most;
    if (count && loops_extremes(type, bytes, count, &least, &most)) return (double)(is_min ? least : most);
    for (uint64_t i = 0; i < count; i++) {
        double value = plan_element(type, bytes, i);
        if (is_min ? value < extreme : value > extreme) extreme = value;
    }
    return extreme;
}

static const PlanBuffer *find_input(const Plan *plan) {
    for (int i = 0; i < plan->buffer_count; i++)
        if (strcmp(plan->buffers[i].name, "in") == 0) return &plan->buffers[i];
    assert(!"the plan has an input");
    return NULL;
}

void rows_check_reduction(const CatalogRun *run, const Plan *filled, const Plan *done, int output,
                          double depth, ExpectResult *result) {
    const PlanBuffer *in = find_input(filled), *out = &done->buffers[output];
    long double magnitude, ignored;
    long double expected = fold(in->type, run->op, in->bytes, in->count, &magnitude);
    long double got = fold(out->type, run->op, out->bytes, out->count, &ignored);
    bool is_sum = strcmp(run->op, "sum") == 0;
    reference_judge(result, out->type, 0, got, expected,
                    is_sum ? reference_bound(out->type, depth, magnitude) : 0);
}
