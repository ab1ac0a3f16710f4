#include "guess/members.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

bool members_is_structure(const PtxVariable *parameter) {
    return parameter->count > 1 && parameter->bytes > 1;
}

static int structure_of(const PtxFunction *entry, const PtxOperand *operand) {
    for (int i = 0; operand->variable && i < entry->parameter_count; i++)
        if (entry->parameters[i] == operand->variable)
            return members_is_structure(operand->variable) ? i : -1;
    return -1;
}

static bool names_structure(const PtxFunction *entry, const PtxOperand *operand) {
    bool found = structure_of(entry, operand) >= 0;
    for (int i = 0; i < operand->item_count; i++) found |= names_structure(entry, &operand->items[i]);
    return found;
}

/* The structure that an instruction loads members of: -1: none; -2: it looks at one in another way. */
static int loaded_structure(const PtxFunction *entry, const PtxInstruction *instruction) {
    bool names = false;
    for (int i = 0; i < instruction->operand_count; i++)
        names |= names_structure(entry, &instruction->operands[i]);
    if (!names) return -1;
    bool is_load = !strcmp(instruction->name, "ld") && instruction->space == PTX_SPACE_PARAM &&
                   instruction->operand_count > 1 && instruction->type_count && !instruction->operands[1].reg;
    const PtxOperand *to = &instruction->operands[0];
    int parts = instruction->vector > 1 ? instruction->vector : 1;
    bool is_whole = parts == 1 || (to->kind == PTX_OPERAND_VECTOR && to->item_count == parts);
    return is_load && is_whole ? structure_of(entry, &instruction->operands[1]) : -2;
}

static const PtxInstruction *instruction_of(const PtxStatement *statement) {
    return statement->kind == PTX_STATEMENT_INSTRUCTION ? statement->instruction : NULL;
}

static void add_parameter(Members *members, PtxVariable *variable, int owner, bool is_part, uint64_t at) {
    int *count = &members->flat.parameter_count;
    members->flat.parameters[*count] = variable;
    members->owner[*count] = owner;
    members->is_part[*count] = is_part;
    members->at[(*count)++] = at;
}

/* The flat parameter of member `at`, which a load of `type` reads; -1: there is none. */
static int find_member(const Members *members, int owner, uint64_t at) {
    for (int i = 0; i < members->flat.parameter_count; i++)
        if (members->owner[i] == owner && members->at[i] == at) return i;
    return -1;
}

/* Of the members that are loaded the first one behind `from`, and its type; false: there is no more. */
static bool next_member(const PtxFunction *entry, int owner, uint64_t from, uint64_t *at, PtxType *type) {
    bool found = false;
    for (int i = 0; i < entry->statement_count; i++) {
        const PtxInstruction *load = instruction_of(&entry->statements[i]);
        if (!load || loaded_structure(entry, load) != owner) continue;
        PtxType of_load = load->types[load->type_count - 1];
        for (int k = 0; k < load->vector; k++) {
            uint64_t place = (uint64_t)load->operands[1].integer + (uint64_t)(k * ptx_type_bytes(of_load));
            if (place < from || (found && place >= *at)) continue;
            *at = place;
            *type = of_load;
            found = true;
        }
    }
    return found;
}

static bool list_parameters(const PtxFunction *entry, Members *members) {
    members->flat.parameter_count = 0;
    members->flat.parameters = arena_new(&members->arena, MEMBERS_PARAMETERS * sizeof(PtxVariable *));
    for (int p = 0; p < entry->parameter_count; p++) {
        uint64_t at = 0, end = 0;
        PtxType type;
        if (members->flat.parameter_count == MEMBERS_PARAMETERS || p == MEMBERS_PARAMETERS) return false;
        members->bytes[p] = entry->parameters[p]->bytes;
        if (!members_is_structure(entry->parameters[p])) {
            add_parameter(members, entry->parameters[p], p, false, 0);
            continue;
        }
        while (next_member(entry, p, end, &at, &type)) {
            if (members->flat.parameter_count == MEMBERS_PARAMETERS) return false;
            PtxVariable *member = arena_copy(&members->arena, entry->parameters[p], sizeof *member);
            member->type = type;
            member->bytes = (uint64_t)ptx_type_bytes(type);
            member->count = 1;
            member->text = NULL;
            add_parameter(members, member, p, true, at);
            end = at + member->bytes;
        }
    }
    return true;
}

/* Part `part` of a load of members, as a load of that parameter. False: its place is within another member. */
static bool rewrite(Members *members, const PtxInstruction *load, int owner, int part,
                    PtxStatement *statement) {
    int bytes = ptx_type_bytes(load->types[load->type_count - 1]);
    int member = find_member(members, owner, (uint64_t)(load->operands[1].integer + (int64_t)part * bytes));
    if (member < 0 || members->flat.parameters[member]->bytes != (uint64_t)bytes) return false;
    PtxInstruction *copy = arena_copy(&members->arena, load, sizeof *copy);
    copy->operands =
        arena_copy(&members->arena, load->operands, (size_t)load->operand_count * sizeof *load->operands);
    if (load->vector > 1) copy->operands[0] = load->operands[0].items[part];
    copy->vector = 1;
    copy->operands[1].variable = members->flat.parameters[member];
    copy->operands[1].integer = 0;
    *statement = (PtxStatement){.kind = PTX_STATEMENT_INSTRUCTION, .instruction = copy};
    return true;
}

static bool rewrite_statements(const PtxFunction *entry, Members *members) {
    int count = 0, all = entry->statement_count;
    for (int i = 0; i < entry->statement_count; i++) {
        const PtxInstruction *instruction = instruction_of(&entry->statements[i]);
        if (instruction && instruction->vector > 1) all += instruction->vector - 1;
    }
    PtxStatement *statements = arena_new(&members->arena, ((size_t)all + 1) * sizeof *statements);
    for (int i = 0; i < entry->statement_count; i++) {
        const PtxInstruction *instruction = instruction_of(&entry->statements[i]);
        int owner = instruction ? loaded_structure(entry, instruction) : -1;
        if (owner < 0) statements[count++] = entry->statements[i];
        for (int k = 0; owner >= 0 && k < instruction->vector; k++)
            if (!rewrite(members, instruction, owner, k, &statements[count++])) return false;
    }
    members->flat.statements = statements;
    members->flat.statement_count = count;
    return true;
}

bool members_open(const PtxFunction *entry, Members *members) {
    bool has_structure = false, is_known = true;
    *members = (Members){.flat = *entry};
    for (int i = 0; i < entry->parameter_count; i++)
        has_structure |= members_is_structure(entry->parameters[i]);
    for (int i = 0; has_structure && i < entry->statement_count; i++) {
        const PtxInstruction *instruction = instruction_of(&entry->statements[i]);
        is_known &= !instruction || loaded_structure(entry, instruction) != -2;
    }
    return has_structure && is_known && list_parameters(entry, members) && rewrite_statements(entry, members);
}

void members_done(Members *members) {
    arena_done(&members->arena);
}
