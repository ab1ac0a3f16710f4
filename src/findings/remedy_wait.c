/* Remedies for waits that leave too many groups of asynchronous copies in flight (remedy.h). */
#include "findings/remedy.h"

#include "metrics/metrics.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static bool is_wait(const PtxInstruction *in, int *groups) {
    if (ptx_asynchronous(in) != PTX_ASYNC_WAIT || !in->operand_count ||
        in->operands[0].kind != PTX_OPERAND_INTEGER)
        return false;
    *groups = in->operands[0].integer <= 64 ? (int)in->operands[0].integer : 0;
    return *groups > 0;
}

static bool is_same(const RemedyWait *wait, PtxSourceLine line, int groups) {
    return wait->line.line == line.line && wait->line.file == line.file && wait->groups == groups;
}

int remedy_find_waits(const TraceLaunch *launch, RemedyWait waits[REMEDY_WAITS]) {
    int count = 0, groups;
    for (int pc = 0; pc < launch->program->code_count; pc++) {
        PtxSourceLine line = metrics_line_of(launch->program, pc);
        if (!is_wait(launch->program->code[pc].instruction, &groups)) continue;
        bool is_new = count < REMEDY_WAITS;
        for (int i = 0; i < count; i++) is_new &= !is_same(&waits[i], line, groups);
        if (is_new) waits[count++] = (RemedyWait){launch, line, groups};
    }
    return count;
}

void remedy_apply_wait(const RemedyWait *wait, int groups, Text *out) {
    const PtxProgram *program = wait->launch->program;
    char *text = memory_copy_text(program->module->text);
    int own;
    for (int pc = 0; pc < program->code_count; pc++) { /* a smaller number has no more digits */
        const PtxInstruction *in = program->code[pc].instruction;
        if (!is_wait(in, &own) || !is_same(wait, metrics_line_of(program, pc), own)) continue;
        char *at = strstr(text + remedy_place_in_text(program->module, in), "wait_group");
        if (at) at += strcspn(at, "0123456789;");
        if (!at || !isdigit((unsigned char)*at)) continue;
        size_t digits = strspn(at, "0123456789");
        char number[16];
        snprintf(number, sizeof number, "%*d", (int)digits, groups);
        memcpy(at, number, digits);
    }
    text_add(out, text);
    free(text);
}

/* The only place of the number in the line; NULL: there is none, or there are several. */
static const char *find_number(const char *line, size_t length, int number, size_t *digits) {
    const char *found = NULL;
    for (size_t i = 0; i < length; i++) {
        bool begins = isdigit((unsigned char)line[i]) &&
                      (!i || (!isalnum((unsigned char)line[i - 1]) && line[i - 1] != '_'));
        if (!begins || atoi(line + i) != number) continue;
        if (found) return NULL;
        found = line + i;
        *digits = strspn(found, "0123456789");
    }
    return found;
}

bool remedy_apply_wait_to_source(const RemedyWait *wait, int groups, const char *text, Text *out) {
    const char *at = text;
    for (int line = 1; line < wait->line.line && *at; line++)
        at += strcspn(at, "\n") + (strchr(at, '\n') != NULL);
    size_t digits = 0;
    const char *number = find_number(at, strcspn(at, "\n"), wait->groups, &digits);
    if (!number) return false;
    text_add_bytes(out, text, (size_t)(number - text));
    text_print(out, "%d", groups);
    text_add(out, number + digits);
    return true;
}
