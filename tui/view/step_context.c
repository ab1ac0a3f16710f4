#include "tui/view/step_context.h"

#include "base/language.h"
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

bool step_context_is_shared(TraceKind kind) {
    return kind == TRACE_SHARED_LOAD || kind == TRACE_SHARED_STORE || kind == TRACE_SHARED_ATOMIC;
}

void step_context_describe_trap(const StepContext *context, const Trap *trap, Text *out) {
    const TraceLaunch *launch = context->scene->traced.trace->launches[trap->launch];
    char lanes[64];
    text_add(out, trap->kind == TRAP_NOT_EMULATED ? tr("not emulated") : tr(trap_kind_mark(trap->kind)));
    if (trap->pc >= 0 && trap->pc < launch->program->code_count && launch->program->code[trap->pc].line.line)
        text_print(out, tr(" in line %d"), launch->program->code[trap->pc].line.line);
    text_print(out, tr(", block %u"), scene_trap_block(context->scene, trap));
    if (trap->warp >= 0) text_print(out, tr(", warp %d"), trap->warp);
    if (trap->lanes) {
        step_context_describe_lanes(trap->lanes, lanes, sizeof lanes);
        text_print(out, tr(", %s"), lanes);
    }
    text_add(out, tr(". "));
    size_t begin = out->length;
    /* Names between backquotes as in the source: `sums`, not `_ZZ15bug_half_sharedIiEvPKT_PS0_jE4sums`. */
    const char *detail = trap->detail;
    while (*detail) {
        const char *quote = strchr(detail, '`'), *end = quote ? strchr(quote + 1, '`') : NULL;
        char symbol[256], name[64];
        if (!end || end - quote > (int)sizeof symbol) break;
        snprintf(symbol, sizeof symbol, "%.*s", (int)(end - quote - 1), quote + 1);
        scene_short_name(symbol, name, sizeof name);
        text_print(out, "%.*s%s", (int)(quote - detail), detail, name);
        detail = end + 1;
    }
    text_add(out, detail);
    if (out->length == begin) return;
    bool is_opcode = out->data[begin + strcspn(out->data + begin, " .")] == '.'; /* bar.sync stays so */
    if (!strcmp(language(), "en") && !is_opcode && islower((unsigned char)out->data[begin]))
        out->data[begin] = (char)toupper((unsigned char)out->data[begin]);
    text_add(out, tr("."));
}

bool step_context_trap_offset(const StepContext *context, const Trap *trap, int lane, uint64_t *offset) {
    const TraceEvent *event = &context->event;
    uint64_t begin;
    int array = event->buffer[event->mask ? __builtin_ctz(event->mask) : 0];
    if (step_context_is_shared(event->kind))
        begin = context->launch->symbols[array].window_offset;
    else if (!context->scene->questions.buffer_address ||
             !context->scene->questions.buffer_address(context->scene->questions.session, array, &begin))
        return false;
    *offset = trap->address[lane] - begin;
    return trap->address[lane] >= begin;
}

static bool is_of_array(TraceKind kind) {
    return step_context_is_shared(kind) || kind == TRACE_GLOBAL_LOAD || kind == TRACE_GLOBAL_STORE ||
           kind == TRACE_GLOBAL_ATOMIC;
}

/* Makes the event of the access that ended the run, if it is of the selected warp, from that of another
 * warp. */
static void take_trap(StepContext *context) {
    const Trap *trap = context->step_index->trap;
    TraceEvent *event = &context->event, of_trap;
    if (!trap || trap->warp != context->view->selection.warp || !trap->lanes ||
        trap->pc != context->step->pc || context->view->place.step + 1 < context->steps->step_count ||
        !is_of_array(event->kind) || !event->mask)
        return;
    of_trap = *event;
    of_trap.warp = trap->warp;
    of_trap.mask = trap->lanes;
    of_trap.has_result = false;
    for (int lane = 0; lane < WARP_LANES; lane++) {
        of_trap.buffer[lane] = event->buffer[__builtin_ctz(event->mask)];
        of_trap.offset[lane] = 0;
        if (trap->lanes >> lane & 1 && !step_context_trap_offset(context, trap, lane, &of_trap.offset[lane]))
            return;
    }
    *event = of_trap;
    context->trap = trap;
}

bool step_context_init(StepContext *context, const Scene *scene, const View *view) {
    *context = (StepContext){.scene = scene, .view = view};
    if (view->place.block >= scene->traced.block_count) return false;
    context->steps = scene->traced.blocks[view->place.block].steps;
    if (view->place.step >= context->steps->step_count) return false;
    context->launch = scene_launch(scene, view->place.block);
    context->step_index = scene_step_index(scene, view->place.block);
    context->step = &context->steps->steps[view->place.step];
    context->code = scene_code(scene, view->place.block, context->step->pc);
    context->event_number = step_index_warp_event(context->step_index, view->place.step, view->selection.warp,
                                                  view->selection.lane);
    bool has_event = context->event_number >= 0;
    if (!has_event) context->event_number = context->steps->events[context->step->first];
    TraceEvent *event = &context->event;
    trace_block_read(context->steps->block, context->event_number, event);
    if (!has_event) take_trap(context);
    if (!step_context_is_shared(event->kind)) return true;
    for (int lane = 0; lane < WARP_LANES; lane++)
        if (event->mask >> lane & 1)
            context->address[lane] =
                context->launch->symbols[event->buffer[lane]].window_offset + event->offset[lane];
    if (trace_event_peer(event) < 0)
        context->cost =
            trace_shared_cost(context->launch->program, event, context->address, context->wavefront_of_lane);
    return true;
}

uint32_t step_context_existing_lanes(const StepContext *context, int warp) {
    return step_index_warp_state(context->step_index, context->view->place.step, warp).exists;
}

int step_context_wavefronts(const StepContext *context) {
    return context->cost.wavefronts > 1 ? context->cost.wavefronts : 1;
}

int step_context_collisions(const TraceEvent *event, int *addresses) {
    int most = 0;
    *addresses = 0;
    for (int lane = 0; lane < WARP_LANES; lane++) {
        int same = 0, first = lane;
        if (!(event->mask >> lane & 1)) continue;
        for (int other = 0; other < WARP_LANES; other++) {
            if (!(event->mask >> other & 1) || event->offset[other] != event->offset[lane] ||
                event->buffer[other] != event->buffer[lane])
                continue;
            if (other < first) first = other;
            same++;
        }
        *addresses += first == lane;
        if (same > most) most = same;
    }
    return most;
}

void step_context_describe_access(const StepContext *context, int lane, const char *place, Text *out) {
    const TraceEvent *event = &context->event;
    char value[40];
    if (!(event->mask >> lane & 1)) {
        text_print(out, tr("lane %d is not active in this access"), lane);
        return;
    }
    text_print(out, tr("lane %d: %s"), lane, place);
    bool is_atomic = event->kind == TRACE_SHARED_ATOMIC || event->kind == TRACE_GLOBAL_ATOMIC;
    if (is_atomic) {
        step_context_print_value(context, event->operand[lane], 0, value, sizeof value);
        text_print(out, tr(", operand %s"), value);
    }
    if (!event->has_result) return;
    step_context_print_value(context, event->value[0][lane], 0, value, sizeof value);
    text_print(out, is_atomic ? tr(", old value %s") : tr(", value %s"), value);
    for (int i = 1; i < event->element_count; i++) {
        step_context_print_value(context, event->value[i][lane], 0, value, sizeof value);
        text_print(out, tr(", %s"), value);
    }
}

/* Numbers of a set in words: runs "0-31", equal distances "0, 8, 16, 24" or "0, 2, ... 30"; false:
 * neither. */
static bool describe_set(const int *numbers, int count, char *out, size_t bytes) {
    int stride = count > 1 ? numbers[1] - numbers[0] : 1;
    for (int i = 2; i < count; i++)
        if (numbers[i] - numbers[i - 1] != stride) stride = 0;
    if (count == 1)
        snprintf(out, bytes, "%d", numbers[0]);
    else if (stride == 1 && count == 2)
        snprintf(out, bytes, "%d, %d", numbers[0], numbers[1]);
    else if (stride == 1)
        snprintf(out, bytes, "%d-%d", numbers[0], numbers[count - 1]);
    else if (count == 2)
        snprintf(out, bytes, "%d, %d", numbers[0], numbers[1]);
    else if (count == 3)
        snprintf(out, bytes, "%d, %d, %d", numbers[0], numbers[1], numbers[2]);
    else if (count == 4)
        snprintf(out, bytes, "%d, %d, %d, %d", numbers[0], numbers[1], numbers[2], numbers[3]);
    else if (stride)
        snprintf(out, bytes, "%d, %d, ... %d", numbers[0], numbers[1], numbers[count - 1]);
    else
        return false;
    return true;
}

void step_context_describe_lanes(uint32_t mask, char *out, size_t bytes) {
    int lanes[WARP_LANES], count = 0;
    char set[64];
    for (int lane = 0; lane < WARP_LANES; lane++)
        if (mask >> lane & 1) lanes[count++] = lane;
    if (count == WARP_LANES)
        snprintf(out, bytes, tr("all 32 lanes"));
    else if (count && describe_set(lanes, count, set, sizeof set))
        snprintf(out, bytes, tr("lane%s %s"), count == 1 ? "" : "s", set);
    else
        snprintf(out, bytes, count ? tr("%d lanes") : tr("no lane"), count);
}

void step_context_describe_warps(const bool *warps, int count, char *out, size_t bytes) {
    int numbers[64], found = 0, total = 0;
    char set[64];
    for (int warp = 0; warp < count; warp++) {
        if (!warps[warp]) continue;
        total++;
        if (found < (int)(sizeof numbers / sizeof *numbers)) numbers[found++] = warp;
    }
    if (total && total == found && describe_set(numbers, found, set, sizeof set))
        snprintf(out, bytes, tr("warp%s %s"), found == 1 ? "" : "s", set);
    else
        snprintf(out, bytes, tr("%d warps"), total);
}

/* Of elements of so many bytes: that of the run's data, else the one that all its arrays of this width have;
 * NO_TYPE: none. */
static PtxType type_of_data(const StepContext *context, int bytes) {
    const Trace *trace = context->scene->traced.trace;
    PtxType found = PTX_NO_TYPE;
    if (ptx_type_bytes(context->scene->identity.type) == bytes) return context->scene->identity.type;
    for (int i = 0; trace && i < trace->buffer_count; i++) {
        PtxType type = trace->buffers[i].type;
        if (type == PTX_NO_TYPE || ptx_type_bytes(type) != bytes) continue;
        if (found != PTX_NO_TYPE && found != type) return PTX_NO_TYPE;
        found = type;
    }
    return found;
}

/* The type that an instruction names, if it says more than the width; else the data's. */
static PtxType natural_type(const StepContext *context, PtxType type, int bytes_of_value) {
    if (ptx_type_is_float(type) || ptx_type_is_signed(type)) return type;
    PtxType data = type_of_data(context, bytes_of_value);
    return data == PTX_NO_TYPE ? type : data;
}

static int64_t sign_extended(uint64_t bits, int bytes) {
    int unused = 64 - 8 * bytes;
    return bytes >= 8 || bytes <= 0 ? (int64_t)bits : (int64_t)(bits << unused) >> unused;
}

static double half_value(uint64_t bits) {
    int exponent = (int)(bits >> 10 & 31), fraction = (int)(bits & 1023);
    double value = exponent == 31  ? (fraction ? NAN : INFINITY)
                   : exponent == 0 ? ldexp(fraction, -24)
                                   : ldexp(fraction + 1024, exponent - 25);
    return bits >> 15 & 1 ? -value : value;
}

/* e4m3 has 4 bits of exponent, biased by 7, and no infinity; e5m2 is the upper half of an f16. */
static double fp8_value(PtxType type, uint64_t bits) {
    if (type == PTX_E5M2) return half_value(bits << 8);
    return (bits & 0x7f) == 0x7f ? NAN : ldexp(half_value((bits & 0x80) << 8 | (bits & 0x7f) << 7), 15 - 7);
}

static double float_value(uint64_t bits, int bytes, bool is_bfloat) {
    if (bytes == 8) {
        double value;
        memcpy(&value, &bits, sizeof value);
        return value;
    }
    if (bytes == 2 && !is_bfloat) return half_value(bits);
    uint32_t word = (uint32_t)(bytes == 2 ? bits << 16 : bits);
    float value;
    memcpy(&value, &word, sizeof value);
    return value;
}

static void print_value(const StepContext *context, PtxType type, uint64_t bits, int bytes_of_value,
                        char *out, size_t bytes) {
    type = natural_type(context, type, bytes_of_value);
    ValueFormat format = context->view->display.values;
    if (format == VALUE_FLOAT && bytes_of_value < 2) format = VALUE_HEX;
    bool is_pair = (type == PTX_F16X2 || type == PTX_BF16X2) && bytes_of_value == 4;
    if (is_pair && format == VALUE_NATURAL)
        snprintf(out, bytes, "%.3g %.3g", float_value(bits & 0xffff, 2, type == PTX_BF16X2),
                 float_value(bits >> 16, 2, type == PTX_BF16X2));
    else if (format == VALUE_HEX)
        snprintf(out, bytes, "%0*" PRIx64, 2 * bytes_of_value, bits);
    else if (format == VALUE_FLOAT || (format == VALUE_NATURAL && ptx_type_is_float(type)))
        snprintf(out, bytes, "%.7g", float_value(bits, bytes_of_value, type == PTX_BF16));
    else if (format == VALUE_NATURAL && !ptx_type_is_signed(type) && type != PTX_NO_TYPE)
        snprintf(out, bytes, "%" PRIu64, bits);
    else
        snprintf(out, bytes, "%" PRId64, sign_extended(bits, bytes_of_value));
}

/* For an instruction without a type (cp.async), that of the buffer which it reads. */
static PtxType type_of_value(const StepContext *context) {
    const PtxInstruction *instruction = context->code ? context->code->instruction : NULL;
    const TraceEvent *event = &context->event;
    if (instruction && instruction->type_count) return instruction->types[0];
    if (!instruction || trace_kind_is_shared(event->kind) || trace_kind_is_local(event->kind) ||
        !trace_kind_is_access(event->kind) || !event->mask)
        return PTX_NO_TYPE;
    PtxType type = context->scene->traced.trace->buffers[event->buffer[__builtin_ctz(event->mask)]].type;
    return ptx_type_bytes(type) == event->element_bytes ? type : PTX_NO_TYPE;
}

void step_context_print_value(const StepContext *context, uint64_t bits, int bytes_of_value, char *out,
                              size_t bytes) {
    PtxType type = type_of_value(context);
    if (!bytes_of_value) bytes_of_value = context->event.element_bytes ? context->event.element_bytes : 4;
    /* A mask of lanes. */
    if (context->event.kind == TRACE_VOTE && bytes_of_value == 4 &&
        context->view->display.values == VALUE_NATURAL)
        snprintf(out, bytes, "%08" PRIx64, bits);
    else
        print_value(context, type, bits, bytes_of_value, out, bytes);
}

void step_context_print_typed(const StepContext *context, PtxType type, uint64_t bits, char *out,
                              size_t bytes) {
    bool is_fp8 = type == PTX_E4M3 || type == PTX_E5M2;
    if (is_fp8 && context->view->display.values == VALUE_NATURAL)
        snprintf(out, bytes, "%.3g", fp8_value(type, bits));
    else
        print_value(context, type, bits, ptx_type_bytes(type) ? ptx_type_bytes(type) : 4, out, bytes);
}

const char *step_context_value_format_name(const StepContext *context) {
    static const char *const names[VALUE_FORMAT_COUNT] = {"", "hex", "signed", "float"};
    return tr(names[context->view->display.values]);
}

void step_context_print_count(uint64_t count, char *out, size_t bytes) {
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%" PRIu64, count);
    size_t at = 0;
    for (int i = 0; i < length && at + 2 < bytes; i++) {
        if (i && (length - i) % 3 == 0) out[at++] = ',';
        out[at++] = digits[i];
    }
    out[at] = 0;
}

void step_context_print_short(uint64_t count, char *out, size_t bytes) {
    static const char units[] = "kMGT";
    double value = (double)count / 1000;
    int unit = 0;
    if (count < 10000) {
        step_context_print_count(count, out, bytes);
        return;
    }
    for (; value >= 999.5 && unit < (int)sizeof units - 2; unit++) value /= 1000;
    snprintf(out, bytes, "%.*f %c", value >= 99.95 ? 0 : 1, value, units[unit]);
}

void step_context_print_size(uint64_t n, char *out, size_t bytes) {
    int power = 63;
    while (power > 0 && n != UINT64_C(1) << power) power--;
    if (power >= 10)
        snprintf(out, bytes, "2^%d", power);
    else
        step_context_print_count(n, out, bytes);
}

int step_context_next_step_of(const StepContext *context, const char *file, int line) {
    int count = context->steps->step_count, block = context->view->place.block;
    for (int i = 1; i <= count; i++) {
        int step = (context->view->place.step + i) % count;
        const PtxCode *code = scene_code(context->scene, block, context->steps->steps[step].pc);
        if (code->line.file && code->line.line == line && !strcmp(code->line.file, file)) return step;
    }
    return -1;
}

bool step_context_is_of_hazard(const StepContext *context, int pc) {
    const Findings *hazards = context->scene->borrowed.hazards;
    int launch = context->scene->traced.blocks[context->view->place.block].launch;
    for (int i = 0; hazards && i < hazards->error_count; i++) {
        const Finding *hazard = &hazards->items[i];
        if (hazard->launch == launch && (hazard->access.pc == pc || hazard->other.pc == pc)) return true;
    }
    return false;
}

bool step_context_is_slow_line(const StepContext *context, const char *file, int line) {
    const Findings *findings = context->scene->borrowed.hazards;
    for (int i = findings ? findings->error_count : 0; findings && i < findings->count; i++) {
        const Finding *finding = &findings->items[i];
        if (finding->severity == SEVERITY_SLOW && finding->access.line == line && finding->access.file &&
            !strcmp(finding->access.file, file))
            return true;
    }
    return false;
}

/* Dynamic shared memory that a helper of another file declares. */
static bool is_named_elsewhere(const StepContext *context, const char *name) {
    const char *file = context->code ? context->code->line.file : NULL;
    int count = file ? scene_source_line_count(context->scene, file) : 0;
    for (int line = 1; line <= count; line++) {
        const char *text = scene_source_line(context->scene, file, line);
        if (text && strstr(text, name)) return false;
    }
    return count > 0;
}

void step_context_print_symbol(const StepContext *context, int symbol, char *out, size_t bytes) {
    scene_short_name(context->launch->symbols[symbol].name, out, bytes);
    if (context->launch->static_shared_bytes == 0 && is_named_elsewhere(context, out))
        snprintf(out, bytes, "shared");
}

void step_context_print_input(const StepContext *context, int buffer, char *out, size_t bytes) {
    const Trace *trace = context->scene->traced.trace;
    if (buffer == FOLD_OTHER_BLOCK)
        snprintf(out, bytes, tr("peer block"));
    else if (buffer >= FOLD_PEER_BUFFER)
        snprintf(out, bytes, "block %u",
                 trace_cluster_member(context->launch, trace_block_linear(context->steps->block),
                                      (uint32_t)(buffer - FOLD_PEER_BUFFER)));
    else
        scene_short_name(trace->buffers[buffer].name, out, bytes);
}

/* ---- registers ----------------------------------------------------------------------------------------- */

static void add_register(Registers *registers, const PtxRegister *reg) {
    for (int i = 0; i < registers->count; i++)
        if (registers->items[i] == reg) return;
    if (registers->count < MOST_REGISTERS) registers->items[registers->count++] = reg;
}

static void add_operand(Registers *registers, const PtxOperand *operand) {
    if (operand->reg) add_register(registers, operand->reg);
    for (int i = 0; i < operand->item_count; i++) add_operand(registers, &operand->items[i]);
}

void registers_of(const PtxInstruction *instruction, Registers *out) {
    out->count = 0;
    if (!instruction) return;
    for (int i = 0; i < instruction->operand_count; i++) add_operand(out, &instruction->operands[i]);
    add_operand(out, &instruction->guard);
}

bool register_values(const StepContext *context, const PtxRegister *reg, RegisterValues *out) {
    const Scene *scene = context->scene;
    if (context->trap) return false; /* the instruction was never executed */
    return scene->questions.registers && scene_can_replay(scene, context->view->place.block) &&
           scene->questions.registers(scene->questions.session, context->view->place.block,
                                      context->event_number, context->event.warp, reg->name, out->bits,
                                      out->weight, out->producer);
}

static bool holds(const PtxOperand *operand, const PtxRegister *reg) {
    if (operand->reg == reg) return true;
    for (int i = 0; i < operand->item_count; i++)
        if (holds(&operand->items[i], reg)) return true;
    return false;
}

/* A whole number as wide as the register, which is shown with its sign. */
static PtxType whole_type(const PtxRegister *reg) {
    static const PtxType types[] = {[1] = PTX_S8, [2] = PTX_S16, [4] = PTX_S32, [8] = PTX_S64};
    int bytes = ptx_type_bytes(reg->type);
    return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8 ? types[bytes] : reg->type;
}

/* The type that an instruction gives the register, a float or a whole number (an address is one);
 * PTX_NO_TYPE: only bits, or it does not name it. cvt and the like have a type for the destination, then one
 * for the source. */
static PtxType type_in_instruction(const PtxInstruction *instruction, const PtxRegister *reg) {
    for (int i = 0; i < instruction->operand_count; i++) {
        const PtxOperand *operand = &instruction->operands[i];
        if (!holds(operand, reg)) continue;
        if (operand->kind == PTX_OPERAND_MEMORY) return whole_type(reg);
        int index = i && instruction->type_count > 1 ? 1 : 0;
        PtxType type = index < instruction->type_count ? instruction->types[index] : PTX_NO_TYPE;
        if (type == PTX_NO_TYPE || ptx_type_bytes(type) != ptx_type_bytes(reg->type)) continue;
        if (ptx_type_is_float(type)) return type;
        if (*ptx_type_text(type) != 'b') return whole_type(reg);
    }
    return PTX_NO_TYPE;
}

PtxType register_type(const StepContext *context, const PtxRegister *reg) {
    if (reg->type == PTX_PRED || ptx_type_is_float(reg->type)) return reg->type;
    const PtxProgram *program = context->launch->program;
    PtxType found = PTX_NO_TYPE;
    for (int pc = 0; pc < program->code_count && !ptx_type_is_float(found); pc++) {
        PtxType type = type_in_instruction(program->code[pc].instruction, reg);
        if (found == PTX_NO_TYPE || ptx_type_is_float(type)) found = type;
    }
    return found == PTX_NO_TYPE ? reg->type : found;
}

void register_print(const StepContext *context, PtxType type, uint64_t bits, char *out, size_t bytes) {
    if (type == PTX_PRED)
        snprintf(out, bytes, "%d", (int)(bits & 1));
    else
        step_context_print_typed(context, type, bits, out, bytes);
}

const PtxRegister *register_chosen(const StepContext *context) {
    Registers registers;
    bool has_values = context->event.has_result && context->event.kind != TRACE_BRANCH;
    int choice = context->view->selection.reg;
    if (!choice && has_values) return NULL;
    registers_of(context->code ? context->code->instruction : NULL, &registers);
    if (!registers.count) return NULL;
    int among = registers.count + has_values; /* the event's own values are one of the choices */
    choice %= among;
    return has_values ? choice ? registers.items[choice - 1] : NULL : registers.items[choice];
}
