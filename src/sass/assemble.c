#define _XOPEN_SOURCE 700
#include "sass/assemble.h"

#include "base/interrupt.h"
#include "base/language.h"
#include "base/text.h"
#include "compile/process.h"
#include "sass/compare.h"
#include "sass/cuda_tools.h"
#include "sass/nvdisasm.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RECORDED_ARCHITECTURE = 90, CUBIN_LIMIT = 256 << 20, MOST_MESSAGE = 240 };
static const double SECONDS = 60;

/* ---- messages of ptxas --------------------------------------------------------------------------------- */

static uint64_t number_before(const char *text, const char *words) {
    const char *at = strstr(text, words);
    while (at && at > text && isspace((unsigned char)at[-1])) at--;
    while (at && at > text && isdigit((unsigned char)at[-1])) at--;
    return at ? strtoull(at, NULL, 10) : 0;
}

/* Copies the line that `at` points to. */
static bool copy_line(const char *at, char *line, size_t bytes) {
    if (at) snprintf(line, bytes, "%.*s", (int)strcspn(at, "\n"), at);
    return at;
}

bool sass_read_resources(const char *messages, const char *entry, SassResources *resources) {
    char line[256];
    Text words = {0};
    text_print(&words, "Compiling entry function '%s'", entry);
    const char *compiled = strstr(messages, text_string(&words));
    text_clear(&words);
    text_print(&words, "Function properties for %s\n", entry);
    const char *properties = compiled ? strstr(compiled, text_string(&words)) : NULL;
    if (properties) properties += words.length;
    text_done(&words);
    const char *used = compiled ? strstr(compiled, "Used ") : NULL;
    *resources = (SassResources){.registers = 0};
    if (!copy_line(used, line, sizeof line)) return false;
    resources->registers = (int)number_before(line, " registers");
    resources->shared_bytes = number_before(line, " bytes smem");
    if (!copy_line(properties, line, sizeof line)) return true;
    resources->stack_bytes = number_before(line, " bytes stack frame");
    resources->spill_store_bytes = number_before(line, " bytes spill stores");
    resources->spill_load_bytes = number_before(line, " bytes spill loads");
    return true;
}

/* Line `number` of the text, from 1, without the blanks around it. */
static const char *find_line(const char *text, int number, int *length) {
    for (; number > 1 && *text; number--) {
        text += strcspn(text, "\n");
        text += *text == '\n';
    }
    text += strspn(text, " \t");
    *length = (int)strcspn(text, "\n");
    while (*length && isspace((unsigned char)text[*length - 1])) --*length;
    return text;
}

/* The line of the module's own text that reads like this; 0: none. */
static int find_same_line(const PtxModule *module, const char *wanted, int wanted_length) {
    int number = 1, length;
    for (const char *at = module->text; *at && wanted_length; number++) {
        const char *line = find_line(at, 1, &length);
        if (length == wanted_length && !memcmp(line, wanted, (size_t)length)) return number;
        at += strcspn(at, "\n");
        at += *at == '\n';
    }
    return 0;
}

/* The instruction of the program that the printed text has in this line; PTX_NO_PC: none. */
static int find_instruction(const char *printed, int line, const PtxProgram *program) {
    PtxModule *module = ptx_module_parse(printed, strlen(printed), "printed.ptx", NULL);
    PtxFunction *entry = module ? ptx_module_find_entry(module, program->entry->name, NULL) : NULL;
    PtxProgram *copy = entry ? ptx_program_link(module, entry, NULL) : NULL;
    int found = PTX_NO_PC;
    for (int pc = 0; copy && copy->code_count == program->code_count && pc < copy->code_count; pc++)
        if (copy->code[pc].instruction->line == line) found = pc;
    ptx_program_free(copy);
    ptx_module_free(module);
    return found;
}

/* "ptxas FILE, line 12; error   : WORDS", or without a line: returns the words. NULL: no error. */
static const char *find_error(const char *messages, int *line) {
    for (const char *at = messages; *at; at += *at == '\n') {
        int length = (int)strcspn(at, "\n");
        char copy[512];
        snprintf(copy, sizeof copy, "%.*s", length, at);
        const char *kind = strstr(copy, "error   : ");
        if (!kind) kind = strstr(copy, "fatal   : ");
        at += length;
        if (!kind) continue;
        const char *place = strstr(copy, ", line ");
        *line = place && place < kind ? atoi(place + strlen(", line ")) : 0;
        return at - length + (kind - copy) + strlen("error   : ");
    }
    return NULL;
}

bool sass_ptxas_error(const char *messages, const char *printed, const PtxProgram *program, Error *error) {
    int line = 0, length;
    const char *words = find_error(messages, &line);
    int most = (int)strcspn(words ? words : messages, "\n");
    if (most > MOST_MESSAGE) most = MOST_MESSAGE;
    if (!words) return error_set(error, "ptxas failed: %.*s", most, messages);
    if (!line) return error_set(error, tr("ptxas refuses the PTX: %.*s"), most, words);
    int pc = find_instruction(printed, line, program);
    const char *text = find_line(printed, line, &length);
    int number =
        pc == PTX_NO_PC ? find_same_line(program->module, text, length) : program->code[pc].instruction->line;
    if (number) return error_set(error, tr("ptxas refuses line %d of the PTX: %.*s"), number, most, words);
    if (!length) return error_set(error, tr("ptxas refuses the PTX: %.*s"), most, words);
    if (length > MOST_MESSAGE / 2) length = MOST_MESSAGE / 2;
    return error_set(error, tr("ptxas refuses '%.*s' in the PTX: %.*s"), length, text, most, words);
}

/* ---- ptxas --------------------------------------------------------------------------------------------- */

/* A target with features of its own ("sm_90a") runs on no other machine. */
static void choose_architecture(const PtxModule *module, char *name, size_t bytes) {
    const char *target = module->target ? module->target : "";
    int number = 0, length = 0;
    bool is_target = sscanf(target, "sm_%d%n", &number, &length) == 1;
    if (is_target && (number > RECORDED_ARCHITECTURE || target[length]))
        snprintf(name, bytes, "%s", target);
    else
        snprintf(name, bytes, "sm_%d", RECORDED_ARCHITECTURE);
}

/* "ptxas 13.0.88", of "Cuda compilation tools, release 13.0, V13.0.88" */
static const char *name_version(const char *ptxas, Arena *arena) {
    const char *const arguments[] = {ptxas, "--version", NULL};
    Text said = {0};
    int status = 1;
    bool good = process_run(arguments, NULL, SECONDS, NULL, &said, &status, NULL) && !status;
    const char *at = good ? strstr(text_string(&said), ", V") : NULL;
    const char *name = at ? arena_print(arena, "ptxas %.*s", (int)strspn(at + 3, "0123456789."), at + 3)
                          : arena_copy_string(arena, "ptxas");
    text_done(&said);
    return name;
}

static bool write_text(const char *path, const Text *text, Error *error) {
    FILE *file = fopen(path, "w");
    bool good = file && fwrite(text->data, 1, text->length, file) == text->length;
    if (file) good &= fclose(file) == 0;
    return good || error_set(error, "%s: %s", path, strerror(errno));
}

typedef struct Assembly {
    const PtxProgram *program;
    char ptxas[PATH_MAX], architecture[32];
    Text ptx, said;
    char *cubin;
    size_t bytes;
    double seconds; /* that ptxas may take */
} Assembly;

static bool run_in(Assembly *assembly, const char *folder, Error *error) {
    char architecture[48], input[PATH_MAX], output[PATH_MAX];
    int status = 0;
    snprintf(architecture, sizeof architecture, "-arch=%s", assembly->architecture);
    snprintf(input, sizeof input, "%s/kernel.ptx", folder);
    snprintf(output, sizeof output, "%s/kernel.cubin", folder);
    const char *const arguments[] = {assembly->ptxas, architecture, "-lineinfo", "-v", "-o",
                                     output,          input,        NULL};
    bool good = write_text(input, &assembly->ptx, error) &&
                process_run(arguments, folder, assembly->seconds, NULL, &assembly->said, &status, error);
    if (good && status)
        good = sass_ptxas_error(text_string(&assembly->said), text_string(&assembly->ptx), assembly->program,
                                error);
    good = good && text_read_file(output, CUBIN_LIMIT, &assembly->cubin, &assembly->bytes, error);
    unlink(input);
    unlink(output);
    return good;
}

static bool run(Assembly *assembly, Error *error) {
    char folder[PATH_MAX - 32];
    snprintf(folder, sizeof folder, "%s/redviz-XXXXXX", process_temporary_folder());
    interrupt_hold();
    bool is_made = mkdtemp(folder) != NULL;
    bool good = is_made ? run_in(assembly, folder, error)
                        : error_set(error, "no temporary folder %s: %s", folder, strerror(errno));
    if (is_made) rmdir(folder);
    interrupt_release();
    return good;
}

bool sass_assemble(const PtxProgram *program, double seconds, SassKernel *kernel, Error *error) {
    Assembly assembly = {.program = program, .seconds = seconds};
    char nvdisasm[PATH_MAX];
    const char *entry = program->entry->name;
    if (!cuda_tool_find(TOOL_PTXAS, assembly.ptxas, sizeof assembly.ptxas, error) ||
        !cuda_tool_find(TOOL_NVDISASM, nvdisasm, sizeof nvdisasm, error))
        return false;
    choose_architecture(program->module, assembly.architecture, sizeof assembly.architecture);
    ptx_programs_print(&program, 1, &assembly.ptx);
    bool good =
        run(&assembly, error) && sass_disassemble(assembly.cubin, assembly.bytes, entry, kernel, error);
    if (good) {
        sass_take_printed_lines(kernel, text_string(&assembly.ptx), program);
        kernel->assembler = name_version(assembly.ptxas, &kernel->arena);
        kernel->architecture = arena_copy_string(&kernel->arena, assembly.architecture);
        kernel->has_resources = sass_read_resources(text_string(&assembly.said), entry, &kernel->resources);
    }
    free(assembly.cubin);
    text_done(&assembly.ptx);
    text_done(&assembly.said);
    return good;
}
