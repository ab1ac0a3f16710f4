/* Program: finds what an entry needs, lays it out as one array of pcs, and resolves branch targets. */
#include "ptx/link.h"

#include "ptx/contract.h"
#include "ptx/messages.h"
#include "ptx/names.h"
#include "ptx/opcodes.h"
#include <stdarg.h>
#include <stdlib.h>

PtxExternal ptx_external_find(const char *name) {
    static const struct {
        const char *name;
        PtxExternal external;
    } externals[] = {
        {"vprintf", PTX_EXTERNAL_PRINTF}, /* int (const char *format, const void *arguments) */
        {"malloc", PTX_EXTERNAL_MALLOC},  /* void *(size_t bytes) */
        {"free", PTX_EXTERNAL_FREE},      /* void (void *pointer) */
        /* Void (const char *message, const char *file, unsigned line, const char *function, size_t
         * char_bytes). */
        {"__assertfail", PTX_EXTERNAL_ASSERT}};
    for (size_t i = 0; i < sizeof externals / sizeof *externals; i++)
        if (!strcmp(name, externals[i].name)) return externals[i].external;
    return PTX_EXTERNAL_NONE;
}

/* ---- which functions --------------------------------------------------------------------------------- */

typedef struct Linker {
    PtxModule *module;
    Error *error;
    PtxProgram *program;
    bool *function_wanted;   /* [module function] */
    PtxFunction **functions; /* functions still to be searched */
    size_t function_count, function_capacity;
    bool *variable_wanted; /* [module variable] */
    PtxVariable **variables;
    size_t variable_count, variable_capacity;
    bool calls_pointers;
} Linker;

/* Of the device's runtime library, with which a kernel launches another one. */
static bool is_of_device_launch(const char *name) {
    return strstr(name, "cudaCDP") || !strncmp(name, "cudaLaunchDevice", 16) ||
           !strncmp(name, "cudaGetParameterBuffer", 22);
}

static bool fail_without_body(const Linker *linker, const PtxFunction *function, const PtxInstruction *from) {
    bool is_launch = is_of_device_launch(function->name);
    ptx_fail_at(
        linker->module, NULL, from ? from->line : function->line, from ? from->column : 0, linker->error,
        is_launch
            ? "the function '%.80s' launches from a kernel (dynamic parallelism), which is not emulated"
            : "the function '%.80s' has no body in this file; link it in first (nvcc without -rdc=true)",
        function->name);
    if (linker->error) linker->error->not_emulated = is_launch;
    return false;
}

static bool want_function(Linker *linker, PtxFunction *function, const PtxInstruction *from) {
    if (function->alias_of) function = function->alias_of;
    if (!function->has_body && ptx_external_find(function->name)) return true;
    if (!function->has_body) return fail_without_body(linker, function, from);
    if (linker->function_wanted[function->index]) return true;
    linker->function_wanted[function->index] = true;
    array_push(linker->functions, linker->function_count, linker->function_capacity, function);
    return true;
}

static void want_variable(Linker *linker, PtxVariable *variable) {
    if (!variable->function && linker->variable_wanted[variable->index]) return;
    if (!variable->function) linker->variable_wanted[variable->index] = true;
    array_push(linker->variables, linker->variable_count, linker->variable_capacity, variable);
}

/* The address of a function without a body (__cxa_pure_virtual) is of no use. */
static void want_address(Linker *linker, PtxFunction *function) {
    if (function->has_body || (function->alias_of && function->alias_of->has_body))
        want_function(linker, function, NULL);
}

static void search_variable(Linker *linker, const PtxVariable *variable) {
    for (int i = 0; i < variable->relocation_count; i++) {
        const char *symbol = variable->relocations[i].symbol;
        const PtxMeaning *meaning = ptx_names_find(linker->module->names, symbol, strlen(symbol))->top;
        if (meaning && meaning->kind == PTX_MEANS_VARIABLE) want_variable(linker, meaning->variable);
        if (meaning && meaning->kind == PTX_MEANS_FUNCTION) want_address(linker, meaning->function);
    }
}

static bool search_operand(Linker *linker, const PtxOperand *operand, const PtxInstruction *from) {
    if (operand->variable && !operand->variable->function) want_variable(linker, operand->variable);
    if (operand->kind == PTX_OPERAND_FUNCTION && !want_function(linker, operand->function, from))
        return false;
    for (int i = 0; i < operand->item_count; i++)
        if (!search_operand(linker, &operand->items[i], from)) return false;
    return true;
}

/* The operand that a call calls: the first that is not a list of arguments. */
static const PtxOperand *callee(const PtxInstruction *instruction) {
    for (int i = 0; i < instruction->operand_count; i++)
        if (instruction->operands[i].kind != PTX_OPERAND_ARGUMENTS) return &instruction->operands[i];
    return NULL;
}

static bool search_function(Linker *linker, PtxFunction *function) {
    if (!ptx_function_parse(linker->module, function, linker->error)) return false;
    for (int i = 0; i < function->statement_count; i++) {
        const PtxStatement *statement = &function->statements[i];
        for (int k = 0; statement->is_call_targets && k < statement->name_count; k++)
            if (!search_operand(linker, &statement->targets[k], NULL)) return false;
        if (statement->kind == PTX_STATEMENT_VARIABLE) want_variable(linker, statement->variable);
        if (statement->kind != PTX_STATEMENT_INSTRUCTION) continue;
        const PtxInstruction *instruction = statement->instruction;
        const PtxOperand *called = instruction->opcode == PTX_call ? callee(instruction) : NULL;
        if (called && called->kind == PTX_OPERAND_REGISTER) linker->calls_pointers = true;
        for (int k = 0; k < instruction->operand_count; k++)
            if (!search_operand(linker, &instruction->operands[k], instruction)) return false;
    }
    return true;
}

static bool search_all(Linker *linker) {
    while (linker->function_count || linker->variable_count) {
        while (linker->variable_count) search_variable(linker, linker->variables[--linker->variable_count]);
        if (linker->function_count && !search_function(linker, linker->functions[--linker->function_count]))
            return false;
    }
    return true;
}

static void want_addresses(Linker *linker, const PtxOperand *operands, int count, const PtxOperand *called) {
    for (int i = 0; i < count; i++) {
        if (operands[i].kind == PTX_OPERAND_FUNCTION && &operands[i] != called)
            want_address(linker, operands[i].function);
        want_addresses(linker, operands[i].items, operands[i].item_count, NULL);
    }
}

/* A pointer may hold any function whose address is taken anywhere; this entry does not need bodies that do
 * not parse. */
static void want_all_addresses(Linker *linker) {
    const PtxModule *module = linker->module;
    for (int i = 0; i < module->variable_count; i++)
        for (int k = 0; k < module->variables[i]->relocation_count; k++) {
            PtxFunction *function = ptx_module_find(module, module->variables[i]->relocations[k].symbol);
            if (function) want_address(linker, function);
        }
    for (int i = 0; i < module->function_count; i++) {
        PtxFunction *function = module->functions[i];
        if (!ptx_function_parse(linker->module, function, NULL)) continue;
        for (int k = 0; k < function->statement_count; k++) {
            const PtxInstruction *instruction = function->statements[k].instruction;
            if (!instruction) continue;
            const PtxOperand *called = instruction->opcode == PTX_call ? callee(instruction) : NULL;
            want_addresses(linker, instruction->operands, instruction->operand_count, called);
        }
    }
}

/* ---- layout ------------------------------------------------------------------------------------------ */

/* Maps statement numbers to pcs, relative to the function: the instruction at or after the statement. The
 * caller frees it. */
static int *pcs_of_statements(const PtxFunction *function, int *count) {
    int *pcs = memory_new(((size_t)function->statement_count + 1) * sizeof *pcs);
    *count = 0;
    for (int i = 0; i < function->statement_count; i++) {
        pcs[i] = *count;
        *count += function->statements[i].kind == PTX_STATEMENT_INSTRUCTION;
    }
    pcs[function->statement_count] = *count;
    return pcs;
}

static bool branches_to_end(const PtxFunction *function, const int *pcs, int count) {
    for (int i = 0; i < function->statement_count; i++) {
        const PtxStatement *statement = &function->statements[i];
        for (int k = 0; statement->kind == PTX_STATEMENT_TARGETS && k < statement->name_count; k++)
            if (statement->targets[k].label && pcs[statement->targets[k].label->statement] == count)
                return true;
        if (statement->kind != PTX_STATEMENT_INSTRUCTION || statement->instruction->opcode != PTX_bra)
            continue;
        const PtxInstruction *branch = statement->instruction;
        if (branch->operand_count && branch->operands[0].label &&
            pcs[branch->operands[0].label->statement] == count)
            return true;
    }
    return false;
}

static bool runs_off(const PtxInstruction *last) {
    bool jumps = last->opcode == PTX_bra || last->opcode == PTX_brx || ptx_flow_ends(last);
    return last->guard.kind != PTX_OPERAND_NONE || !jumps;
}

static bool refuse(const Linker *linker, const PtxInstruction *instruction, const char *why) {
    return ptx_fail_at(linker->module, NULL, instruction->line, instruction->column, linker->error, "%s",
                       why);
}

static bool resolve_branch(Linker *linker, const PtxFunction *function, PtxCode *code, int base,
                           const int *pcs) {
    const PtxInstruction *instruction = code->instruction;
    const PtxLabel *label = instruction->operand_count == 1 ? instruction->operands[0].label : NULL;
    if (!label || function->statements[label->statement].kind != PTX_STATEMENT_LABEL)
        return refuse(linker, instruction, "bra needs one label of an instruction");
    code->target = base + pcs[label->statement];
    return true;
}

static bool resolve_list(Linker *linker, const PtxFunction *function, PtxCode *code, int base,
                         const int *pcs) {
    const PtxInstruction *instruction = code->instruction;
    const PtxLabel *label = instruction->operand_count == 2 ? instruction->operands[1].label : NULL;
    const PtxStatement *list = label ? &function->statements[label->statement] : NULL;
    if (!list || list->kind != PTX_STATEMENT_TARGETS || list->is_call_targets)
        return refuse(linker, instruction, "brx.idx needs an index and the name of a .branchtargets list");
    code->target_count = list->name_count;
    code->targets = arena_new(&linker->program->arena, (size_t)list->name_count * sizeof *code->targets);
    for (int i = 0; i < list->name_count; i++) {
        const PtxLabel *target = list->targets[i].label;
        if (function->statements[target->statement].kind != PTX_STATEMENT_LABEL)
            return refuse(linker, instruction,
                          "its list of targets names something that is not the label of an instruction");
        code->targets[i] = base + pcs[target->statement];
    }
    return true;
}

static void resolve_call(Linker *linker, const PtxFunction *function, PtxCode *code) {
    const PtxInstruction *instruction = code->instruction;
    const PtxOperand *last =
        instruction->operand_count ? &instruction->operands[instruction->operand_count - 1] : NULL;
    if (!last || !last->label) return;
    const PtxStatement *list = &function->statements[last->label->statement];
    if (list->kind != PTX_STATEMENT_TARGETS || !list->is_call_targets) return;
    code->targets = arena_new(&linker->program->arena, (size_t)list->name_count * sizeof *code->targets);
    for (int i = 0; i < list->name_count; i++) {
        int place = ptx_program_function(linker->program, list->targets[i].function);
        if (place >= 0) code->targets[code->target_count++] = linker->program->functions[place].begin;
    }
}

static PtxInstruction *added_return(PtxProgram *program, const PtxInstruction *last) {
    PtxInstruction *instruction = arena_new(&program->arena, sizeof *instruction);
    *instruction = (PtxInstruction){.opcode = PTX_ret,
                                    .name = "ret",
                                    .vector = 1,
                                    .loc = last ? last->loc : -1,
                                    .line = last ? last->line : 0,
                                    .column = last ? last->column : 0};
    instruction->guard.component = -1;
    return instruction;
}

/* Appends the function's instructions to the program. */
static bool place_function(Linker *linker, int index) {
    PtxProgram *program = linker->program;
    PtxProgramFunction *placed = &program->functions[index];
    const PtxFunction *function = placed->function;
    int count, base = placed->begin = program->code_count;
    int *pcs = pcs_of_statements(function, &count);
    const PtxInstruction *last = NULL;
    for (int i = 0; i < function->statement_count; i++) {
        if (function->statements[i].kind != PTX_STATEMENT_INSTRUCTION) continue;
        last = function->statements[i].instruction;
        program->code[program->code_count++] = (PtxCode){
            .instruction = last, .function = index, .target = PTX_NO_PC, .reconvergence = PTX_NO_PC};
    }
    if (!last || runs_off(last) || branches_to_end(function, pcs, count))
        program->code[program->code_count++] = (PtxCode){.instruction = added_return(program, last),
                                                         .function = index,
                                                         .target = PTX_NO_PC,
                                                         .reconvergence = PTX_NO_PC};
    placed->end = program->code_count;
    bool good = true;
    for (int pc = base; good && pc < placed->end; pc++) {
        PtxOpcode opcode = program->code[pc].instruction->opcode;
        if (opcode == PTX_bra) good = resolve_branch(linker, function, &program->code[pc], base, pcs);
        if (opcode == PTX_brx) good = resolve_list(linker, function, &program->code[pc], base, pcs);
    }
    free(pcs);
    return good;
}

static bool lay_out(Linker *linker) {
    PtxProgram *program = linker->program;
    const PtxModule *module = linker->module;
    size_t room = 0;
    for (int i = 0; i < module->function_count; i++)
        if (linker->function_wanted[i]) {
            program->function_count++;
            room += (size_t)module->functions[i]->statement_count + 1;
        }
    program->functions =
        arena_new(&program->arena, (size_t)program->function_count * sizeof *program->functions);
    program->code = arena_new(&program->arena, room * sizeof *program->code);
    int next = 0;
    program->functions[next++].function = program->entry;
    for (int i = 0; i < module->function_count; i++)
        if (linker->function_wanted[i] && module->functions[i] != program->entry)
            program->functions[next++].function = module->functions[i];
    program->place = arena_new(&program->arena, (size_t)module->function_count * sizeof *program->place);
    for (int i = 0; i < module->function_count; i++) program->place[i] = -1;
    for (int i = 0; i < program->function_count; i++)
        program->place[program->functions[i].function->index] = i;
    for (int i = 0; i < program->function_count; i++)
        if (!place_function(linker, i)) return false;
    for (int pc = 0; pc < program->code_count; pc++)
        if (program->code[pc].instruction->opcode == PTX_call)
            resolve_call(linker, program->functions[program->code[pc].function].function, &program->code[pc]);
    for (int i = 0; i < program->function_count; i++) {
        ptx_flow_analyse(program, &program->functions[i]);
        ptx_atomic_forms_find(program, &program->functions[i]);
    }
    ptx_lines_resolve(program);
    return true;
}

static bool link(Linker *linker) {
    PtxFunction *entry = linker->program->entry;
    if (!entry->has_body)
        return error_set_at(linker->error, linker->module->file, entry->line, 0,
                            "the entry '%.80s' has no body", entry->name);
    if (!want_function(linker, entry, NULL) || !search_all(linker)) return false;
    if (linker->calls_pointers) {
        want_all_addresses(linker);
        if (!search_all(linker)) return false;
    }
    for (int i = 0; i < linker->module->function_count; i++)
        if (linker->function_wanted[i]) ptx_contract(linker->module, linker->module->functions[i]);
    return lay_out(linker);
}

PtxProgram *ptx_program_link(PtxModule *module, PtxFunction *entry, Error *error) {
    PtxProgram *program = memory_new(sizeof *program);
    program->module = module;
    program->entry = entry;
    Linker linker = {.module = module, .program = program, .error = error};
    linker.function_wanted = memory_new((size_t)module->function_count + 1);
    linker.variable_wanted = memory_new((size_t)module->variable_count + 1);
    bool good = link(&linker);
    free(linker.function_wanted);
    free(linker.functions);
    free(linker.variable_wanted);
    free(linker.variables);
    if (good) return program;
    ptx_program_free(program);
    return NULL;
}

bool ptx_program_point(const PtxProgram *program, int pc, Error *error, const char *format, ...) {
    const PtxInstruction *in = program->code[pc].instruction;
    char message[sizeof error->message];
    va_list list;
    va_start(list, format);
    vsnprintf(message, sizeof message, format, list);
    va_end(list);
    return ptx_fail_at(program->module, NULL, in->line, in->column, error, "%s", message);
}

void ptx_program_free(PtxProgram *program) {
    if (!program) return;
    arena_done(&program->arena);
    free(program);
}

int ptx_program_function(const PtxProgram *program, const PtxFunction *function) {
    return program->place[(function->alias_of ? function->alias_of : function)->index];
}

bool ptx_programs_have(const PtxProgram *const *programs, int count, const PtxFunction *function) {
    for (int i = 0; i < count; i++)
        if (ptx_program_function(programs[i], function) >= 0) return true;
    return false;
}

void ptx_programs_print(const PtxProgram *const *programs, int count, Text *out) {
    const PtxModule *module = programs[0]->module;
    for (int i = 0; i < module->item_count; i++) {
        const PtxItem *item = &module->items[i];
        bool is_function = item->kind == PTX_ITEM_FUNCTION && item->function->has_body;
        if (!is_function || ptx_programs_have(programs, count, item->function)) ptx_item_print(item, out);
    }
}
