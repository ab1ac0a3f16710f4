#include "guess/guess_arguments.h"

#include "base/memory.h"
#include "guess/guess_declared.h"
#include "guess/members.h"
#include "plan/plan.h"
#include "guess/uses.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PARAMETERS = USES_PARAMETERS };

/* ---- the shape ----------------------------------------------------------------------------------------- */

static void look_at_operand(const PtxOperand *operand, KernelShape *shape) {
    if (operand->kind == PTX_OPERAND_SPECIAL && operand->name)
        shape->counts_blocks |= !strncmp(operand->name, "%ctaid", 6) ||
                                !strncmp(operand->name, "%cluster_ctaid", 14) ||
                                !strncmp(operand->name, "%clusterid", 10);
    const PtxVariable *variable = operand->variable;
    if (variable && variable->space == PTX_SPACE_SHARED && !variable->bytes) shape->has_dynamic_shared = true;
    for (int i = 0; i < operand->item_count; i++) look_at_operand(&operand->items[i], shape);
}

static bool has_unsized_array(const PtxModule *module) {
    for (int i = 0; i < module->variable_count; i++)
        if (module->variables[i]->space == PTX_SPACE_SHARED && !module->variables[i]->bytes) return true;
    return false;
}

static bool calls_function(const PtxInstruction *instruction) {
    if (strcmp(instruction->name, "call") != 0) return false;
    for (int i = 0; i < instruction->operand_count; i++) {
        const PtxFunction *called = instruction->operands[i].function;
        if (called && ptx_external_find(called->name) != PTX_EXTERNAL_NONE) return false;
    }
    return true;
}

KernelShape guess_shape(const PtxModule *module, const PtxFunction *entry) {
    UseShape uses = uses_shape(entry);
    KernelShape shape = {.dimensions = uses.of_grid > uses.of_block ? uses.of_grid : uses.of_block,
                         .block_dimensions = uses.of_block};
    bool calls = false;
    for (int i = 0; i < module->variable_count; i++)
        if (module->variables[i]->space == PTX_SPACE_SHARED)
            shape.static_shared += module->variables[i]->bytes;
    for (int i = 0; i < entry->statement_count; i++) {
        const PtxStatement *statement = &entry->statements[i];
        if (statement->variable && statement->variable->space == PTX_SPACE_SHARED)
            shape.static_shared += statement->variable->bytes;
        if (statement->kind != PTX_STATEMENT_INSTRUCTION) continue;
        calls |= calls_function(statement->instruction);
        for (int k = 0; k < statement->instruction->operand_count; k++)
            look_at_operand(&statement->instruction->operands[k], &shape);
    }
    shape.has_dynamic_shared |= calls && has_unsized_array(module);
    shape.counts_blocks |= calls; /* a function may */
    return shape;
}

static bool is_marked(const PtxVariable *parameter) {
    return parameter->text && strstr(parameter->text, ".ptr") != NULL;
}

static bool may_be_pointer(const PtxVariable *parameter) {
    return parameter->bytes == 8 && (parameter->type == PTX_U64 || parameter->type == PTX_B64);
}

/* What the C++ name says; else .ptr, with which newer compilers mark pointers; else whether it is used as
 * one, where any is seen to be. */
static bool is_pointer(const PtxFunction *entry, const Use *uses, int index, const Declared *declared) {
    bool any_marked = false, any_used = false;
    if (!may_be_pointer(entry->parameters[index])) return false;
    if (declared->is_known) return declared->is_pointer;
    for (int i = 0; i < entry->parameter_count && i < MOST_PARAMETERS; i++) {
        any_marked |= is_marked(entry->parameters[i]);
        any_used |= uses[i].is_read || uses[i].is_written;
    }
    if (any_marked) return is_marked(entry->parameters[index]);
    return !any_used || uses[index].is_read || uses[index].is_written;
}

/* ---- the text ------------------------------------------------------------------------------------------ */

typedef struct ArgumentGuess {
    const PtxFunction *entry;
    const GuessInput *input;
    Use uses[MOST_PARAMETERS];
    Declared declared[MOST_PARAMETERS];
    int inputs, outputs;
    int buffer[MOST_PARAMETERS]; /* the argument's number among inputs (> 0) or outputs (< 0); 0: no buffer */
    Text *out;
} ArgumentGuess;

/* Is the parameter named so in the source? Small letters are compared. */
static bool is_named(const ArgumentGuess *guess, int index, const char *part, bool at_begin) {
    const char *name = guess->input->names ? guess->input->names[index] : NULL;
    char lower[64] = "";
    for (size_t i = 0; name && name[i] && i + 1 < sizeof lower; i++)
        lower[i] = (char)tolower((unsigned char)name[i]);
    const char *at = strstr(lower, part);
    return at && (!at_begin || at == lower || (!strncmp(lower, "d_", 2) && at == lower + 2));
}

/* How many bins a histogram has, where a parameter says that it counts them; 0: none does. */
static uint64_t bins_of(const ArgumentGuess *guess) {
    enum { USUAL_BINS = 256 };
    for (int i = 0; i < guess->entry->parameter_count && i < MOST_PARAMETERS; i++) {
        const GuessHint *hint = guess->input->hints ? &guess->input->hints[i] : NULL;
        bool is_count = guess->entry->parameters[i]->bytes <= 4 && is_named(guess, i, "bin", false);
        if (is_count)
            return hint && hint->has_value && !hint->is_free && hint->integer > 0 ? (uint64_t)hint->integer
                                                                                  : USUAL_BINS;
    }
    return 0;
}

static void print_number(const ArgumentGuess *guess, uint64_t number) {
    if (number == guess->input->n)
        text_add(guess->out, "n");
    else
        text_print(guess->out, "%" PRIu64, number);
}

/* A float that the host passes for a whole number is cut off, as C++ does. */
static GuessHint whole_hint(const GuessHint *hint) {
    GuessHint whole = *hint;
    if (hint->has_value && hint->is_float && fabs(hint->number) < 9e18) {
        whole.is_float = false;
        whole.integer = (int64_t)hint->number;
    }
    return whole;
}

static void add_scalar(const ArgumentGuess *guess, int index) {
    const PtxVariable *parameter = guess->entry->parameters[index];
    const Declared *declared = &guess->declared[index];
    const GuessHint *hint = guess->input->hints ? &guess->input->hints[index] : NULL;
    if (declared->has_value) {
        print_number(guess, declared->value);
        return;
    }
    bool is_float = ptx_type_is_float(parameter->type) || ptx_type_is_float(declared->type);
    uint64_t bytes = parameter->bytes, limit = bytes < 8 ? (UINT64_C(1) << (8 * bytes - 1)) - 1 : INT64_MAX;
    uint64_t side = guess->input->side;
    GuessHint whole;
    if (hint && !is_float) {
        whole = whole_hint(hint);
        hint = &whole;
    }
    bool is_bins =
        !is_float && is_named(guess, index, "bin", false) && (!hint || !hint->has_value || hint->is_free);
    if (is_bins)
        text_print(guess->out, "%" PRIu64, bins_of(guess));
    else if (is_float && is_named(guess, index, "eps", true) && (!hint || !hint->has_value || hint->is_free))
        text_add(guess->out, "0.00001");
    else if (hint && hint->has_value && is_float)
        text_print(guess->out,
                   hint->number == trunc(hint->number) && fabs(hint->number) < 1e15 ? "%.1f" : "%.17g",
                   hint->number);
    else if (hint && hint->has_value && !hint->is_float && hint->integer >= 0 &&
             (uint64_t)hint->integer <= limit)
        print_number(guess, (uint64_t)hint->integer);
    else if (hint && hint->has_value && !hint->is_float && bytes <= 8 && hint->integer < 0 &&
             hint->integer >= -(int64_t)limit - 1)
        text_print(guess->out, "%" PRId64, hint->integer);
    else if (is_float)
        text_add(guess->out, "1.0");
    else
        print_number(guess, bytes > 1 && side <= limit ? side : 1);
}

/* The first parameter that is this buffer names it. */
static const char *source_name(const ArgumentGuess *guess, int number) {
    for (int i = 0; guess->input->names && i < guess->entry->parameter_count && i < MOST_PARAMETERS; i++)
        if (guess->buffer[i] == number) return guess->input->names[i];
    return NULL;
}

static void add_name(const ArgumentGuess *guess, int number) {
    const char *name = source_name(guess, number);
    if (name) {
        text_add(guess->out, name);
        return;
    }
    text_add(guess->out, number > 0 ? "in" : "out");
    if (abs(number) > 1) text_print(guess->out, "%d", abs(number));
}

/* What an accumulator starts from: the identity of its operation, else zero. */
static const char *identity_of(const char *operation, PtxType type) {
    static const struct {
        PtxType type;
        const char *least, *largest;
    } limits[] = {{PTX_S8, "-128", "127"},
                  {PTX_S16, "-32768", "32767"},
                  {PTX_S32, "-2147483648", "2147483647"},
                  {PTX_S64, "-9223372036854775807-1", "9223372036854775807"},
                  {PTX_U32, "0", "4294967295"},
                  {PTX_F16, "-inf", "inf"},
                  {PTX_BF16, "-inf", "inf"},
                  {PTX_F32, "-inf", "inf"},
                  {PTX_F64, "-inf", "inf"}};
    bool is_min = operation && !strcmp(operation, "min"), is_max = operation && !strcmp(operation, "max");
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        if (limits[i].type == type && (is_min || is_max)) return is_min ? limits[i].largest : limits[i].least;
    return NULL;
}

/* Of a row pointer: rows, as many as were allocated or as whole numbers are, and elements in each. */
static uint64_t rows_of(const ArgumentGuess *guess, int index, uint64_t *columns) {
    const Use *use = &guess->uses[index];
    const GuessHint *hints = guess->input->hints;
    uint64_t rows = hints && hints[index].count > 1 ? hints[index].count - 1 : guess->input->side;
    uint64_t all =
        hints && use->indexed >= 0 && hints[use->indexed].count ? hints[use->indexed].count : guess->input->n;
    *columns = rows && all / rows ? all / rows : 1;
    return rows;
}

static void add_fill(const ArgumentGuess *guess, int index, bool is_input, PtxType type) {
    const Use *use = &guess->uses[index];
    const char *fold = uses_float_fold(guess->entry), *fill = guess->input->fill;
    bool is_integer = !ptx_type_is_float(type);
    if (!is_integer && !fold && uses_cut_off(guess->entry)) fold = "add"; /* added as whole numbers */
    if (is_input && use->is_row_pointer && is_integer && !guess->input->has_fill) {
        uint64_t columns;
        rows_of(guess, index, &columns);
        text_print(guess->out, ":iota(0,%" PRIu64 ")", columns);
    } else if (is_input && use->is_index && !guess->input->has_fill) {
        const GuessHint *hint =
            guess->input->hints && use->indexed >= 0 ? &guess->input->hints[use->indexed] : NULL;
        uint64_t bins = bins_of(guess);
        uint64_t most = bins                                             ? bins
                        : hint && hint->count                            ? hint->count
                        : use->most_indices                              ? use->most_indices
                        : use->indexed < 0 && guess->input->shared_bytes ? guess->input->shared_bytes / 4
                                                                         : guess->input->n;
        uint64_t base = (uint64_t)use->index_base, limit = type == PTX_S8 ? 128 : 256;
        if (isalpha((int)base)) most = 26;
        if (ptx_type_bytes(type) == 1 && base + most > limit) most = limit - base;
        text_print(guess->out, ":random(%" PRIu64 ",%" PRIu64 ")", base, base + most - 1);
    } else if (is_input && is_integer && !guess->input->has_fill && is_named(guess, index, "flag", false)) {
        text_add(guess->out, ":random(0,1)");
    } else if (is_input && !is_integer && !guess->input->has_fill && fold && !strcmp(fold, "add")) {
        text_add(guess->out, ":random(-8,8)"); /* sums of them are exact in any order, for a long time */
    } else if (is_input) {
        text_print(guess->out, ":%s", fill);
    } else if (use->is_updated) {
        bool is_exchanged = use->is_exchanged && !use->is_lock;
        const char *operation = use->update && *use->update ? use->update : is_exchanged ? fold : NULL;
        const char *identity = identity_of(operation, type);
        if (identity) text_print(guess->out, ":%s", identity);
    }
}

static void add_count(const ArgumentGuess *guess, int index, bool is_input) {
    const Use *use = &guess->uses[index];
    const GuessHint *hint = guess->input->hints ? &guess->input->hints[index] : NULL;
    uint64_t grow = guess->input->grow ? guess->input->grow[index] : 1;
    int vector = guess->declared[index].vector;
    if (hint && hint->count) {
        if (hint->count == guess->input->grid && hint->count != guess->input->n && !is_input)
            text_add(guess->out, "grid");
        else
            print_number(guess, hint->count);
        return;
    }
    if (is_input && use->is_row_pointer && grow < 2) {
        uint64_t columns;
        text_print(guess->out, "%" PRIu64, rows_of(guess, index, &columns) + 1);
        return;
    }
    if (!is_input && use->count == USE_CONSTANT && grow < 2)
        text_print(guess->out, "%" PRIu64, use->elements);
    else if (!is_input && use->count == USE_GRID && grow < 2)
        text_add(guess->out, "grid");
    else
        text_add(guess->out, "n");
    if (grow > 1) text_print(guess->out, "*%" PRIu64, grow);
    if (vector > 1 && use->count != USE_CONSTANT) text_print(guess->out, "*%d", vector);
}

static bool is_only_read(const ArgumentGuess *guess, int index) {
    const Use *use = &guess->uses[index];
    return guess->declared[index].is_constant || (use->is_read && !use->is_written);
}

/* It is read and written, and is more than an accumulator: a kernel may work in place. */
static bool may_be_in_place(const ArgumentGuess *guess, int index) {
    const Use *use = &guess->uses[index];
    bool only_written = !use->is_read && use->is_written,
         is_small = use->is_written && use->count < USE_ANY && use->count;
    return is_pointer(guess->entry, guess->uses, index, &guess->declared[index]) && !only_written &&
           !is_small;
}

/* The host passes the same pointer for parameter `other`. */
static bool is_passed_again(const ArgumentGuess *guess, int index, int other) {
    const GuessHint *hint = guess->input->hints ? &guess->input->hints[other] : NULL;
    return hint && hint->is_same && hint->same_as == index;
}

/* Another pointer may be its input: many elements are only read through it. */
static bool has_other_input(const ArgumentGuess *guess, int index) {
    for (int i = 0; i < guess->entry->parameter_count && i < MOST_PARAMETERS; i++) {
        bool may_be = i != index && !is_passed_again(guess, index, i) &&
                      is_pointer(guess->entry, guess->uses, i, &guess->declared[i]);
        if (may_be && is_only_read(guess, i) && guess->uses[i].count == USE_ANY) return true;
    }
    return false;
}

/* Element 0 of whole numbers is all that is read of it: it says how many elements others have. */
static bool is_size(const ArgumentGuess *guess, int index, bool is_input, PtxType type) {
    const Use *use = &guess->uses[index];
    const GuessHint *hint = guess->input->hints ? &guess->input->hints[index] : NULL;
    return is_input && use->count == USE_CONSTANT && use->elements == 1 && !use->is_written &&
           use->is_compared && !ptx_type_is_float(type) && ptx_type_bytes(type) >= 4 &&
           (!hint || hint->count < 2);
}

/* An input is only read. Of a kernel without any, it is the first that may be worked on in place; so is a first pointer. */
static bool is_input(const ArgumentGuess *guess, int index) {
    if (is_only_read(guess, index)) return true;
    static const char *const results[] = {"out", "res", "dst", "partial", "sum", "hist"};
    for (size_t i = 0; i < sizeof results / sizeof *results; i++)
        if (is_named(guess, index, results[i], true) && has_other_input(guess, index)) return false;
    bool has_other = guess->inputs || guess->outputs;
    for (int i = 0; has_other && i < guess->entry->parameter_count && i < MOST_PARAMETERS; i++) {
        bool is_other_input = !is_passed_again(guess, index, i) &&
                              is_pointer(guess->entry, guess->uses, i, &guess->declared[i]) &&
                              (is_only_read(guess, i) || (i < index && guess->buffer[i] > 0));
        if (is_other_input) return false;
    }
    return may_be_in_place(guess, index) && (!has_other || guess->uses[index].is_read);
}

static void add_pointer(ArgumentGuess *guess, int index) {
    const Use *use = &guess->uses[index];
    const Declared *declared = &guess->declared[index];
    const GuessHint *hint = guess->input->hints ? &guess->input->hints[index] : NULL;
    if (hint && hint->is_same && hint->same_as < index && guess->buffer[hint->same_as]) {
        guess->buffer[index] = guess->buffer[hint->same_as];
        add_name(guess, guess->buffer[index]);
        return;
    }
    if (hint && hint->is_null) {
        text_add(guess->out, "null");
        return;
    }
    bool is_in = is_input(guess, index);
    int number = is_in ? ++guess->inputs : -++guess->outputs;
    PtxType type = declared->type != PTX_NO_TYPE ? declared->type
                   : use->type != PTX_NO_TYPE    ? use->type
                                                 : PTX_S32;
    guess->buffer[index] = number;
    add_name(guess, number);
    if (is_size(guess, index, is_in, type)) {
        text_print(guess->out, "=%s[1]:", plan_type_name(type));
        print_number(guess, guess->input->side);
        return;
    }
    text_print(guess->out, "=%s[", plan_type_name(type));
    add_count(guess, index, is_in);
    text_add(guess->out, "]");
    add_fill(guess, index, is_in, type);
}

/* Arguments that are the same pointer: what is done with any of them is done with the first. */
static void join_uses(ArgumentGuess *guess) {
    for (int i = 0; guess->input->hints && i < guess->entry->parameter_count && i < MOST_PARAMETERS; i++) {
        const GuessHint *hint = &guess->input->hints[i];
        if (!hint->is_same || hint->same_as >= i) continue;
        Use *first = &guess->uses[hint->same_as], *use = &guess->uses[i];
        first->is_read |= use->is_read;
        first->is_written |= use->is_written;
        if (use->count > first->count) first->count = use->count;
        if (use->elements > first->elements) first->elements = use->elements;
    }
}

static void add_item(ArgumentGuess *guess, int index) {
    if (!is_pointer(guess->entry, guess->uses, index, &guess->declared[index]))
        add_scalar(guess, index);
    else if (!guess->uses[index].is_named && !guess->declared[index].is_known)
        text_add(guess->out, "0"); /* Triton's scratch memory, of a kernel that wants none */
    else
        add_pointer(guess, index);
}

/* ---- structures --------------------------------------------------------------------------------------------- */

/* What is known of parameters is known of those that are no structures; members are what they are used as. */
static void take_apart(ArgumentGuess *guess, const Members *members, GuessInput *input, GuessHint *hints,
                       const char **names, uint64_t *grow) {
    Declared declared[MOST_PARAMETERS];
    memcpy(declared, guess->declared, sizeof declared);
    for (int i = 0; i < members->flat.parameter_count; i++) {
        int owner = members->owner[i];
        guess->declared[i] = declared[owner];
        if (members->is_part[i])
            guess->declared[i] = (Declared){.is_known = true, .type = PTX_NO_TYPE, .vector = 1};
        if (input->hints && !members->is_part[i]) hints[i] = input->hints[owner];
        for (int k = 0; hints[i].is_same && k < i; k++)
            if (members->owner[k] == input->hints[owner].same_as) hints[i].same_as = k;
        if (input->names && !members->is_part[i]) names[i] = input->names[owner];
        grow[i] = input->grow && !members->is_part[i] ? input->grow[owner] : 1;
    }
    input->hints = input->hints ? hints : NULL;
    input->names = input->names ? names : NULL;
    input->grow = grow;
    guess->input = input;
    guess->entry = &members->flat;
}

/* A number as a member of so many bytes: 7 is an int, and 1.5 a double. */
static void add_member(ArgumentGuess *guess, int index) {
    const PtxVariable *member = guess->entry->parameters[index];
    bool is_float = ptx_type_is_float(member->type),
         is_item = is_pointer(guess->entry, guess->uses, index, &guess->declared[index]);
    if (!is_item && !(is_float ? member->type == PTX_F64 : member->bytes == 4))
        text_print(guess->out, "(%s)",
                   plan_type_name(is_float             ? member->type
                                  : member->bytes == 8 ? PTX_S64
                                  : member->bytes == 2 ? PTX_S16
                                                       : PTX_S8));
    add_item(guess, index);
}

/* Zeros from `end` to `at`, where members are that nobody reads. */
static uint64_t add_unread(ArgumentGuess *guess, uint64_t end, uint64_t at, bool *is_first) {
    while (end < at) {
        bool is_int = end % 4 == 0 && at - end >= 4;
        text_print(guess->out, "%s%s", *is_first ? "" : ", ", is_int ? "0" : "(char)0");
        *is_first = false;
        end += is_int ? 4 : 1;
    }
    return end;
}

/* {in=float[n], n, 3.5f}, from member `flat` on; the one behind it. */
static int add_structure(ArgumentGuess *guess, const Members *members, int owner, int flat) {
    uint64_t end = 0, alignment = 1, all = members->bytes[owner];
    bool is_first = true;
    text_add(guess->out, "{");
    for (; flat < members->flat.parameter_count && members->owner[flat] == owner; flat++) {
        const PtxVariable *member = members->flat.parameters[flat];
        uint64_t natural = (end + member->bytes - 1) / member->bytes * member->bytes;
        if (natural != members->at[flat]) add_unread(guess, end, members->at[flat], &is_first);
        text_add(guess->out, is_first ? "" : ", ");
        is_first = false;
        add_member(guess, flat);
        end = members->at[flat] + member->bytes;
        if (member->bytes > alignment) alignment = member->bytes;
    }
    if ((end + alignment - 1) / alignment * alignment < all) add_unread(guess, end, all, &is_first);
    text_add(guess->out, "}");
    return flat;
}

void guess_arguments(const PtxFunction *entry, const GuessInput *input, Text *out) {
    Members members;
    ArgumentGuess guess = {.entry = entry, .input = input, .out = out};
    GuessInput of_members;
    GuessHint hints[MOST_PARAMETERS] = {{0}};
    const char *names[MOST_PARAMETERS] = {NULL};
    uint64_t grow[MOST_PARAMETERS];
    declared_list(entry, input->n, guess.declared);
    bool has_members = members_open(entry, &members);
    if (has_members) {
        of_members = *input;
        take_apart(&guess, &members, &of_members, hints, names, grow);
    }
    uses_find(guess.entry, guess.uses);
    join_uses(&guess);
    for (int i = 0; has_members && i < members.flat.parameter_count; i++)
        if (members.is_part[i])
            guess.declared[i].is_pointer = guess.uses[i].is_read || guess.uses[i].is_written;
    for (int i = 0, flat = 0; i < entry->parameter_count && i < MOST_PARAMETERS; i++) {
        text_add(out, i ? ", " : "");
        if (has_members && members_is_structure(entry->parameters[i]))
            flat = add_structure(&guess, &members, i, flat);
        else
            add_item(&guess, flat++);
    }
    members_done(&members);
}

uint64_t guess_element_bytes(const PtxFunction *entry, int index) {
    Declared declared[MOST_PARAMETERS] = {0};
    Use uses[MOST_PARAMETERS];
    declared_list(entry, 1, declared);
    uses_find(entry, uses);
    PtxType type = declared[index].type != PTX_NO_TYPE ? declared[index].type : uses[index].type;
    if (!is_pointer(entry, uses, index, &declared[index])) return 0;
    return type == PTX_NO_TYPE ? 4 : (uint64_t)ptx_type_bytes(type);
}

int guess_row_threads(const PtxFunction *entry) {
    Use uses[MOST_PARAMETERS];
    uses_find(entry, uses);
    for (int i = 0; i < entry->parameter_count && i < MOST_PARAMETERS; i++)
        if (uses[i].is_row_pointer && uses[i].row_threads) return uses[i].row_threads;
    return 1;
}

bool guess_has_rows(const PtxFunction *entry, bool *by_block) {
    Use uses[MOST_PARAMETERS];
    Members members;
    bool found = false;
    if (members_open(entry, &members)) entry = &members.flat;
    uses_find(entry, uses);
    *by_block = false;
    for (int i = 0; i < entry->parameter_count && i < MOST_PARAMETERS; i++) {
        found |= uses[i].is_stride || uses[i].is_row_pointer;
        *by_block |= uses[i].is_row_stride || (uses[i].is_row_pointer && !uses[i].row_threads);
    }
    members_done(&members);
    return found;
}

/* ---- beside the file ---- */

bool guess_shared_beside(const char *ptx_path, uint32_t *bytes) {
    enum { LIMIT_BYTES = 1 << 20 };
    const char *dot = strrchr(ptx_path, '.'), *slash = strrchr(ptx_path, '/');
    Text path = {0};
    char *json = NULL;
    size_t length;
    text_add_bytes(&path, ptx_path, dot && dot > slash ? (size_t)(dot - ptx_path) : strlen(ptx_path));
    text_add(&path, ".json");
    bool found = text_read_file(text_string(&path), LIMIT_BYTES, &json, &length, NULL);
    text_done(&path);
    char *at = found ? strstr(json, "\"shared\":") : NULL, *end = at;
    unsigned long long value = at ? strtoull(at + strlen("\"shared\":"), &end, 10) : 0;
    found = at && end > at + strlen("\"shared\":") && value <= UINT32_MAX && strstr(json, "\"num_warps\"");
    if (found) *bytes = (uint32_t)value;
    free(json);
    return found;
}
