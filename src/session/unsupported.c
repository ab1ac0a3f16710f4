/* The parts of a kernel that are valid PTX and not emulated: all of them, with their lines, before anything
 * runs. */
#include "session/state.h"

#include <string.h>

static void print_name(const PtxInstruction *in, Text *out) {
    text_add(out, in->name);
    for (int i = 0; i < in->modifier_count; i++) text_print(out, ".%s", in->modifiers[i].text);
}

/* Is it missing as a whole, not only in this form? */
static bool is_whole(const EmulatorUnsupported *entry) {
    return !strncmp(entry->why, "not emulated", 12);
}

/* The same name, suffixes and reason: one line of the list. */
static bool is_same(const PtxProgram *program, const EmulatorUnsupported *x, const EmulatorUnsupported *y) {
    const PtxInstruction *a = program->code[x->pc].instruction, *b = program->code[y->pc].instruction;
    if (strcmp(a->name, b->name) != 0 || a->modifier_count != b->modifier_count) return false;
    for (int i = 0; i < a->modifier_count; i++)
        if (strcmp(a->modifiers[i].text, b->modifiers[i].text) != 0) return false;
    return (is_whole(x) && is_whole(y)) || !strcmp(x->why, y->why);
}

static void print_place(const PtxCode *code, Text *out) {
    text_print(out, "%d", code->instruction->line);
    if (!code->line.line || !code->line.file) return;
    const char *slash = strrchr(code->line.file, '/');
    text_print(out, " (%s:%d)", slash ? slash + 1 : code->line.file, code->line.line);
}

/* "  line 12 (mine.cu:8), 20: mma.sync....: why" for each kind of instruction. */
static void print_list(const PtxProgram *program, const EmulatorUnsupported *list, int count, Text *out) {
    for (int i = 0; i < count; i++) {
        bool is_listed = false;
        for (int k = 0; k < i && !is_listed; k++) is_listed = is_same(program, &list[k], &list[i]);
        if (is_listed) continue;
        text_add(out, "  line ");
        print_place(&program->code[list[i].pc], out);
        for (int k = i + 1; k < count; k++) {
            if (!is_same(program, &list[k], &list[i])) continue;
            text_add(out, ", ");
            print_place(&program->code[list[k].pc], out);
        }
        text_add(out, ": ");
        print_name(program->code[list[i].pc].instruction, out);
        if (!is_whole(&list[i])) text_print(out, ": %s", list[i].why);
        text_add(out, "\n");
    }
}

static bool refuse(const Session *session, const PtxProgram *program, const EmulatorUnsupported *list,
                   int count, Error *error) {
    const PtxCode *first = &program->code[list[0].pc];
    Text name = {0};
    char more[48] = "";
    print_name(first->instruction, &name);
    if (count > 1) snprintf(more, sizeof more, ", nor %s %d more", count == 2 ? "is" : "are", count - 1);
    ptx_program_point(
        program, list[0].pc, error,
        "%.200s is not emulated%s; --until-unsupported runs the kernel up to the first that is reached",
        text_string(&name), more);
    text_done(&name);
    if (session->options.unsupported) print_list(program, list, count, session->options.unsupported);
    return false;
}

bool session_check_supported(Session *session, Error *error) {
    bool good = true;
    for (int i = 0; good && i < session->run->launches.count; i++) {
        const EmulatorUnsupported *list;
        int count;
        Launch launch;
        if (!session_bind_emulated(session, i, session->run->emulator, &launch, error)) return false;
        good = emulator_unsupported(session->run->emulator, &launch, &session->arena, &list, &count, error);
        launch_done(&launch);
        if (good && count) good = refuse(session, session->run->launches.programs[i], list, count, error);
    }
    return good;
}
