/* Plan file: a plan as text: for people as --launch has it, for programs as bytes. */
#ifndef PLAN_PLAN_FILE_H
#define PLAN_PLAN_FILE_H

#include "plan/plan.h"

/* What --launch reads again: `k<<<grid, block>>>(in=float[1024]:random, out=float[1], 1024); ...`. `modules`,
 * [plan->module_count] (one, where the plan has none): they know the types of parameters. False with `error`: no such text says it
 * (contents, writes of the host, pointers between elements). */
bool plan_print(const Plan *plan, PtxModule *const *modules, Text *out, Error *error);

/* All of the plan but the bytes of its buffers. Equal plans give equal bytes. */
void plan_write(const Plan *plan, Text *out);
/* The plan that plan_write() gave; false with `error`: the bytes are damaged. They may come from anywhere. */
bool plan_read(const char *bytes, size_t length, Plan *plan, Error *error);
bool plan_is_equal(const Plan *a, const Plan *b);

#endif
