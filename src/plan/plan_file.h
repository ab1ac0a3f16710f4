/* Plan file: a plan as text: for people as --launch has it, for programs as bytes. */
#ifndef PLAN_PLAN_FILE_H
#define PLAN_PLAN_FILE_H

#include "plan/plan.h"

/* Prints the plan as --launch reads it: `k<<<4, 256>>>(in=float[1024]:random, out=float[1], 1024); ...`.
 * `modules` ([plan->module_count], or one) know the types of parameters. False with `error` if --launch
 * cannot express the plan: contents, writes of the host, pointers between elements. */
bool plan_print(const Plan *plan, PtxModule *const *modules, Text *out, Error *error);

/* Writes everything but the bytes of the buffers. Equal plans give equal bytes. */
void plan_write(const Plan *plan, Text *out);
/* Reads what plan_write() wrote. The bytes may come from anywhere: false with `error` if they are damaged. */
bool plan_read(const char *bytes, size_t length, Plan *plan, Error *error);
bool plan_is_equal(const Plan *a, const Plan *b);

#endif
