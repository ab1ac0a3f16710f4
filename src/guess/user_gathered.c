/* Elements that a kernel reads through an array of indices, x[columns[i]]: an input of their own, as long as
 * the indices are. */
#include "guess/user_variables.h"

#include "guess/uses.h"

#include <inttypes.h>

static void add_gathered(Guess *guess, UserVariables *variables, const PlanBuffer *indices,
                         const PlanBuffer *from) {
    uint64_t bytes = (uint64_t)ptx_type_bytes(from->type);
    PlanBuffer gathered = *from;
    gathered.name = arena_print(&guess->arena, "%s[%s]", from->name, indices->name);
    gathered.count = indices->count;
    gathered.bytes = arena_new(&variables->arena, (size_t)(indices->count * bytes));
    for (uint64_t i = 0; i < indices->count; i++) {
        double place = plan_element(indices->type, indices->bytes, i);
        if (!(place >= 0 && place < (double)from->count)) return;
        memcpy((char *)gathered.bytes + i * bytes, (const char *)from->bytes + (uint64_t)place * bytes,
               (size_t)bytes);
    }
    variables->filled.buffers[variables->filled.buffer_count++] = gathered;
    variables->done.buffers[variables->done.buffer_count++] = gathered;
}

void user_add_gathered(Guess *guess, UserVariables *variables) {
    const PlanLaunch *launch = &guess->run.done->launches[0];
    const Plan *filled = guess->run.filled;
    Use uses[USES_PARAMETERS];
    int added = 0;
    uses_find(guess->entries[0], uses);
    for (int i = 0; i < launch->argument_count && i < USES_PARAMETERS; i++) {
        int through =
            uses[i].is_index && !uses[i].is_written && !uses[i].is_row_pointer ? uses[i].indexed : -1;
        if (through < 0 || through >= launch->argument_count || added == USER_GATHERED) continue;
        int indices = launch->arguments[i].buffer, from = launch->arguments[through].buffer;
        bool is_read = uses[through].is_read && !uses[through].is_written;
        if (indices < 0 || from < 0 || indices == from || !is_read ||
            ptx_type_is_float(filled->buffers[indices].type) || filled->buffers[indices].count < 2)
            continue;
        add_gathered(guess, variables, &filled->buffers[indices], &filled->buffers[from]);
        added++;
    }
}
