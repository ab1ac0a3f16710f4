/* Inserts text into the control flow of entries (entry_probe.h). */
#include "instrument/entry_probe.h"

#include "ptx/opcodes.h"

#include <string.h>

static bool begins(const PtxStatement *statement) {
    return statement->kind == PTX_STATEMENT_INSTRUCTION || statement->kind == PTX_STATEMENT_LABEL ||
           statement->kind == PTX_STATEMENT_OPEN;
}

static const PtxInstruction *instruction_of(const PtxStatement *statement) {
    return statement->kind == PTX_STATEMENT_INSTRUCTION ? statement->instruction : NULL;
}

static void print_body(const EntryProbe *probe, const PtxFunction *function, Text *out) {
    bool begun = false, has_left = false;
    for (int i = 0; i < function->statement_count; i++) {
        const PtxStatement *statement = &function->statements[i];
        const PtxInstruction *in = instruction_of(statement);
        if (statement->kind == PTX_STATEMENT_LOC) continue;
        if (!begun && begins(statement)) {
            probe->at_begin(out);
            begun = true;
        }
        bool leaves = in && (in->opcode == PTX_ret || in->opcode == PTX_exit);
        if (leaves) probe->before_exit(in, out);
        if (in) has_left = leaves && in->guard.kind != PTX_OPERAND_REGISTER;
        ptx_statement_print(function, statement, out);
        if (in && probe->after) probe->after(in, out);
    }
    if (begun && !has_left) probe->before_exit(NULL, out);
}

static bool print_entry(const EntryProbe *probe, const PtxItem *item, Text *out, Error *error) {
    text_add(out, "\n");
    if (!probe->print_header)
        text_add(out, item->text);
    else if (!probe->print_header(item, out, error))
        return false;
    text_add(out, "\n{\n");
    if (probe->print_body)
        probe->print_body(probe->context, item->function, out);
    else
        print_body(probe, item->function, out);
    text_add(out, "}\n");
    return true;
}

static bool check_called(const EntryProbe *probe, const PtxFunction *function, Error *error) {
    for (int i = 0; i < function->statement_count; i++) {
        const PtxInstruction *in = instruction_of(&function->statements[i]);
        const char *why = in && probe->why_not_called ? probe->why_not_called(in) : NULL;
        if (why) return error_set(error, "the called function %s %s", function->name, why);
    }
    return true;
}

bool entry_probe_print(const EntryProbe *probe, const PtxProgram *const *programs, int count, Text *out,
                       Error *error) {
    const PtxModule *module = programs[0]->module;
    for (int i = 0; i < module->item_count; i++) {
        const PtxItem *item = &module->items[i];
        bool has_body = item->kind == PTX_ITEM_FUNCTION && item->function->has_body;
        if (has_body && !ptx_programs_have(programs, count, item->function)) continue;
        if (ptx_item_is_directive(item, ".file") || ptx_item_is_directive(item, ".section")) continue;
        if (has_body && item->is_definition && item->function->is_entry) {
            if (!print_entry(probe, item, out, error)) return false;
            continue;
        }
        if (has_body && item->is_definition && !check_called(probe, item->function, error)) return false;
        ptx_item_print(item, out);
        if (probe->declarations && ptx_item_is_directive(item, ".address_size"))
            text_add(out, probe->declarations);
    }
    return true;
}

/* "name(.param .u64 in)"; only directives without parentheses follow the list. */
bool entry_probe_add_parameter(const PtxItem *item, const char *name, Text *out, Error *error) {
    const char *open = strchr(item->text, '('), *close = strrchr(item->text, ')');
    bool is_empty = open && close && strspn(open + 1, " \t\r\n") == (size_t)(close - open - 1);
    if (!open != !close || (open && close < open))
        return error_set(error, "%s: its list of parameters cannot be read", item->function->name);
    if (!open) {
        text_print(out, "%s(.param .u64 %s)", item->text, name);
        return true;
    }
    text_add_bytes(out, item->text, (size_t)(close - item->text));
    text_print(out, "%s .param .u64 %s%s", is_empty ? "" : ",", name, close);
    return true;
}
