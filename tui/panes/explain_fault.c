/* The sentence about a fault at this step, which comes before all others: the access that ended the run, a
 * word that nothing wrote, a race, an addition lost to rounding, inputs that are counted twice or lost. */
#include "tui/panes/pane.h"
#include "tui/panes/reduction_row.h"

#include "base/language.h"
#include <inttypes.h>
#include <stdio.h>

void pane_note_trap(const StepContext *context, PaneHead *out) {
    if (!context->trap) return;
    bool is_fault = context->trap->kind != TRAP_NOT_EMULATED;
    pane_note(out, tr("never done: %s"), is_fault ? trap_kind_mark(context->trap->kind) : tr("not emulated"));
    out->note_role = ROLE_WARNING;
}

static void add_trap(const StepContext *context, const Trap *trap, const char *begin, Text *out) {
    text_add(out, begin);
    step_context_describe_trap(context, trap, out);
}

/* The fault that ended this block's run, at its last step. */
static bool add_end(const StepContext *context, Text *out) {
    const Trap *trap = context->step_index->trap;
    if (!trap || context->view->place.step + 1 < context->steps->step_count) return false;
    add_trap(context, trap, tr("The run ends: "), out);
    return true;
}

static bool is_same_line(const StepContext *context, int pc) {
    const PtxCode *code = scene_code(context->scene, context->view->place.block, pc);
    return pc == context->step->pc ||
           (code && context->code && code->line.line && code->line.line == context->code->line.line);
}

/* A fault of this block and this line that did not end the run. */
static bool add_survived(const StepContext *context, Text *out) {
    const Trace *trace = context->scene->traced.trace;
    const SessionBlock *block = &context->scene->traced.blocks[context->view->place.block];
    for (int i = 0; i < trace->trap_count; i++) {
        const Trap *trap = &trace->traps[i];
        if (trap_kind_is_fatal(trap->kind) || trap->launch != block->launch ||
            scene_trap_block(context->scene, trap) != trace_block_linear(block->block) ||
            !is_same_line(context, trap->pc))
            continue;
        add_trap(context, trap, "", out);
        return true;
    }
    return false;
}

/* The meaning of the reduction's marks that appear in this step. */
static bool add_mark(const StepContext *context, Text *out) {
    enum { WINDOW = 120 }; /* columns: the boxes around the selected thread's */
    BoxRow row = boxes_row(context, WINDOW);
    BoxFaults faults;
    if (!row.level || !boxes_marks_step(&row)) return false;
    boxes_find_faults(&row, &faults);
    if (!faults.count) return false;
    const char *line = faults.line[0];
    const char *what = line[0] == MARK_RACE        ? tr("Race: ")
                       : line[0] == MARK_UNWRITTEN ? tr("Undefined: ")
                       : line[0] == MARK_STUCK     ? tr("Rounding: ")
                       : line[0] == MARK_TWICE     ? tr("Counted twice: ")
                       : line[0] == MARK_LOST      ? tr("Lost: ")
                                                   : "";
    text_print(out, "%s%s%s", what, line + 2, tr("."));
    return true;
}

/* A race that was found at this instruction. */
static bool add_hazard(const StepContext *context, Text *out) {
    const Findings *hazards = context->scene->borrowed.hazards;
    int launch = context->scene->traced.blocks[context->view->place.block].launch, pc = context->step->pc;
    for (int i = 0; hazards && i < hazards->error_count; i++) {
        const Finding *hazard = &hazards->items[i];
        bool here = hazard->access.pc == pc, there = hazard->other.pc == pc;
        if (hazard->launch != launch || hazard->kind > FINDING_GLOBAL_RACE || (!here && !there)) continue;
        const FindingAccess *other = here ? &hazard->other : &hazard->access;
        text_add(out, tr("Race: nothing orders this access"));
        if (hazard->what) text_print(out, tr(" of %s"), hazard->what);
        if (other->line)
            text_print(out, tr(" and that of line %d by another thread."), other->line);
        else
            text_add(out, tr(" and another thread's."));
        return true;
    }
    return false;
}

bool explain_fault(const StepContext *context, Text *out) {
    return add_end(context, out) || add_survived(context, out) || add_mark(context, out) ||
           add_hazard(context, out);
}
