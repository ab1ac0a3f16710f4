/* Builds the instrumented module: selects the parts of the original one and the probes. */
#include "instrument/emit.h"

#include "base/memory.h"
#include "instrument/region.h"
#include "ptx/opcodes.h"
#include <stdlib.h>

typedef struct Build {
    PtxModule *module;
    const PtxProgram *const *programs;
    int program_count;
    bool approximate;  /* also records .approx results */
    bool uses_cluster; /* some instruction is of clusters */
    InstrumentSites *sites;
    bool *function_wanted; /* [module function]: prints its body */
    bool *function_named;  /* [module function]: prints its declaration */
    bool *variable_named;  /* [module variable] */
    int **site_of;         /* [module function][place]: number of the site, -1: none; NULL: not printed */
    int site_capacity, symbol_capacity;
} Build;

/* ---- selection --------------------------------------------------------------------------------------- */

static PtxVariable *find_variable(const PtxModule *module, const char *name) {
    for (int i = 0; i < module->variable_count; i++)
        if (!strcmp(module->variables[i]->name, name)) return module->variables[i];
    return NULL;
}

static void name_function(Build *build, const PtxFunction *function) {
    build->function_named[function->index] = true;
    if (function->alias_of) build->function_named[function->alias_of->index] = true;
}

static void name_variable(Build *build, const PtxVariable *variable) {
    if (variable->function || build->variable_named[variable->index]) return;
    variable = build->module->variables[variable->index];
    build->variable_named[variable->index] = true;
    for (int i = 0; i < variable->relocation_count; i++) {
        const char *symbol = variable->relocations[i].symbol;
        const PtxVariable *other = find_variable(build->module, symbol);
        const PtxFunction *function = ptx_module_find(build->module, symbol);
        if (other) name_variable(build, other);
        if (function) name_function(build, function);
    }
}

static void name_operand(Build *build, const PtxOperand *operand) {
    if (operand->variable) name_variable(build, operand->variable);
    if (operand->kind == PTX_OPERAND_FUNCTION && operand->function) name_function(build, operand->function);
    for (int i = 0; i < operand->item_count; i++) name_operand(build, &operand->items[i]);
}

static void name_all(Build *build, const PtxFunction *function) {
    build->function_wanted[function->index] = build->function_named[function->index] = true;
    for (int i = 0; i < function->statement_count; i++) {
        const PtxStatement *statement = &function->statements[i];
        for (int k = 0; k < statement->name_count && statement->is_call_targets; k++)
            name_operand(build, &statement->targets[k]);
        if (statement->kind != PTX_STATEMENT_INSTRUCTION) continue;
        for (int k = 0; k < statement->instruction->operand_count; k++)
            name_operand(build, &statement->instruction->operands[k]);
    }
}

/* ---- sites ------------------------------------------------------------------------------------------ */

static int instruction_count(const PtxFunction *function) {
    int count = 0;
    for (int i = 0; i < function->statement_count; i++)
        count += function->statements[i].kind == PTX_STATEMENT_INSTRUCTION;
    return count;
}

static void add_site(Build *build, const InstrumentSite *site) {
    InstrumentSites *sites = build->sites;
    array_push(sites->sites, sites->site_count, build->site_capacity, *site);
}

static void plan_function(Build *build, const PtxProgram *program, const PtxProgramFunction *linked) {
    const PtxFunction *function = linked->function;
    int place = 0;
    bool *may_spin = memory_new((size_t)(linked->end - linked->begin) + 1);
    Constants constants = constants_find(function);
    probe_plan_spin_loops(program, linked->begin, linked->end, may_spin);
    for (int i = 0; i < function->statement_count; i++) {
        if (function->statements[i].kind != PTX_STATEMENT_INSTRUCTION) continue;
        const PtxInstruction *in = function->statements[i].instruction;
        InstrumentSite site;
        if (probe_plan_site(in, &constants, &site) ||
            (build->approximate && probe_plan_approximate_site(in, &site))) {
            site.function = function->index;
            site.place = place;
            site.may_spin = may_spin[place];
            add_site(build, &site);
        } else {
            build->sites->unprobed += probe_plan_is_missed(in);
        }
        place++;
    }
    constants_done(&constants);
    free(may_spin);
}

/* Numbers the sites, those that may spin first; afterwards each function knows its own. */
static void number_sites(Build *build) {
    InstrumentSites *sites = build->sites;
    InstrumentSite *ordered = arena_new(&sites->arena, ((size_t)sites->site_count + 1) * sizeof *ordered);
    int count = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < sites->site_count; i++)
            if (sites->sites[i].may_spin == (pass == 0)) ordered[count++] = sites->sites[i];
    free(sites->sites);
    sites->sites = ordered;
    for (int i = 0; i < build->module->function_count; i++) {
        if (!build->function_wanted[i]) continue;
        int instructions = instruction_count(build->module->functions[i]);
        build->site_of[i] = memory_new(((size_t)instructions + 1) * sizeof(int));
        for (int k = 0; k <= instructions; k++) build->site_of[i][k] = -1;
    }
    for (int i = 0; i < count; i++) {
        sites->spin_count += ordered[i].may_spin;
        build->site_of[ordered[i].function][ordered[i].place] = i;
    }
}

/* ---- symbols ---------------------------------------------------------------------------------------- */

static void add_symbol(Build *build, const PtxVariable *variable) {
    InstrumentSites *sites = build->sites;
    InstrumentSymbol symbol = {.variable = variable};
    bool is_local = variable->space == PTX_SPACE_LOCAL && variable->function && variable->function->is_entry;
    bool is_shared = variable->space == PTX_SPACE_SHARED || variable->space == PTX_SPACE_SHARED_CLUSTER;
    if (!is_local && !is_shared && variable->space != PTX_SPACE_CONST) return;
    array_push(sites->symbols, sites->symbol_count, build->symbol_capacity, symbol);
    if (is_shared && build->uses_cluster) {
        symbol.is_mapped = true;
        array_push(sites->symbols, sites->symbol_count, build->symbol_capacity, symbol);
    }
    if (variable->space != PTX_SPACE_CONST) return;
    symbol.is_generic = true;
    array_push(sites->symbols, sites->symbol_count, build->symbol_capacity, symbol);
}

/* It names the other blocks of a cluster, or meets them. */
static bool is_of_cluster(const PtxInstruction *in) {
    return in->opcode == PTX_mapa || ptx_instruction_has(in, PTX_MOD_CLUSTER) ||
           ptx_instruction_has(in, PTX_MOD_MULTICAST_CLUSTER);
}

static bool uses_cluster(const PtxFunction *function) {
    for (int i = 0; i < function->statement_count; i++)
        if (function->statements[i].kind == PTX_STATEMENT_INSTRUCTION &&
            is_of_cluster(function->statements[i].instruction))
            return true;
    return false;
}

static void find_symbols(Build *build) {
    const PtxModule *module = build->module;
    for (int i = 0; i < module->function_count; i++)
        build->uses_cluster |= build->function_wanted[i] && uses_cluster(module->functions[i]);
    for (int i = 0; i < module->variable_count; i++)
        if (build->variable_named[i]) add_symbol(build, module->variables[i]);
    for (int i = 0; i < module->function_count; i++) {
        const PtxFunction *function = module->functions[i];
        for (int k = 0; build->function_wanted[i] && k < function->statement_count; k++)
            if (function->statements[k].kind == PTX_STATEMENT_VARIABLE)
                add_symbol(build, function->statements[k].variable);
    }
    InstrumentSites *sites = build->sites;
    InstrumentSymbol *symbols = sites->symbols;
    sites->symbols = arena_copy(&sites->arena, symbols, (size_t)sites->symbol_count * sizeof *symbols);
    free(symbols);
}

/* ---- text ------------------------------------------------------------------------------------------- */

/* ".alias a, b;" */
static bool is_alias_of_unnamed(const Build *build, const PtxItem *item) {
    if (!ptx_item_is_directive(item, ".alias")) return false;
    const char *name = item->text + strlen(".alias");
    name += strspn(name, " \t");
    size_t length = strcspn(name, " \t,;");
    for (int i = 0; i < build->module->function_count; i++) {
        const PtxFunction *function = build->module->functions[i];
        if (strlen(function->name) == length && !strncmp(function->name, name, length))
            return !build->function_named[i];
    }
    return true;
}

/* A version as one number: 7.8 is 708. */
static int version_of(const PtxModule *module) {
    return module->version_major * 100 + module->version_minor;
}

static void print_header(const Build *build, const PtxModule *probe, Text *out) {
    const PtxModule *module = build->module;
    int version = version_of(module) > version_of(probe) ? version_of(module) : version_of(probe);
    text_print(out, ".version %d.%d\n", version / 100, version % 100);
    for (int i = 0; i < module->item_count; i++)
        if (ptx_item_is_directive(&module->items[i], ".target"))
            text_print(out, "%s\n", module->items[i].text);
    text_add(out, ".address_size 64\n");
}

static bool is_printed(const Build *build, const PtxItem *item) {
    switch (item->kind) {
    case PTX_ITEM_VARIABLE:
        return build->variable_named[item->variable->index];
    case PTX_ITEM_FUNCTION:
        return item->is_definition ? build->function_wanted[item->function->index]
                                   : build->function_named[item->function->index];
    case PTX_ITEM_DIRECTIVE:
        break;
    }
    static const char *const elsewhere[] = {".version", ".target", ".address_size", ".file", ".section"};
    for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++)
        if (ptx_item_is_directive(item, elsewhere[i])) return false;
    return !is_alias_of_unnamed(build, item);
}

static bool has_sites(const Build *build, const PtxFunction *function) {
    const InstrumentSites *sites = build->sites;
    for (int i = 0; i < sites->site_count; i++)
        if (sites->sites[i].function == function->index) return true;
    for (int i = 0; i < sites->symbol_count; i++)
        if (sites->symbols[i].variable->function == function) return true;
    return function->is_entry;
}

static void print_functions(const Build *build, Emitter *emitter) {
    const InstrumentSites *sites = build->sites;
    EmittedSymbols of_module = {memory_new(((size_t)sites->symbol_count + 1) * sizeof(int)), 0}, none = {0};
    for (int i = 0; i < sites->symbol_count; i++)
        if (!sites->symbols[i].variable->function) of_module.index[of_module.count++] = i;
    for (int i = 0; i < build->module->item_count; i++) {
        const PtxItem *item = &build->module->items[i];
        if (!is_printed(build, item)) continue;
        if (item->kind != PTX_ITEM_FUNCTION || !item->is_definition) {
            ptx_item_print(item, emitter->out);
            continue;
        }
        emitter->site_of = build->site_of[item->function->index];
        emit_function(emitter, item, item->function->is_entry ? &of_module : &none,
                      !has_sites(build, item->function));
    }
    free(of_module.index);
}

/* ---- probes ----------------------------------------------------------------------------------------- */

static bool want_probe(PtxModule *probe, bool *wanted, const char *name, Error *error) {
    PtxFunction *function = ptx_module_find(probe, name);
    if (!function || !function->has_body)
        return error_set(error, "%s: there is no function %s; run 'make ptx'", probe->file, name);
    if (wanted[function->index]) return true;
    wanted[function->index] = true;
    if (!ptx_function_parse(probe, function, error)) return false;
    for (int i = 0; i < function->statement_count; i++) {
        const PtxInstruction *in = function->statements[i].instruction;
        for (int k = 0; in && k < in->operand_count; k++)
            if (in->operands[k].kind == PTX_OPERAND_FUNCTION &&
                !want_probe(probe, wanted, in->operands[k].function->name, error))
                return false;
    }
    return true;
}

static bool want_probes(PtxModule *probe, bool *wanted, const Emitter *emitter, Error *error) {
    char name[64];
    bool good = !emitter->uses_enter || want_probe(probe, wanted, "redviz_enter", error);
    good = good && (!emitter->uses_windows || want_probe(probe, wanted, "redviz_windows", error));
    good = good && (!emitter->uses_symbol || want_probe(probe, wanted, "redviz_symbol", error));
    for (int wide = 0; wide <= EMIT_MOST_WIDE; wide++)
        for (int narrow = 0; narrow <= EMIT_MOST_NARROW; narrow++) {
            snprintf(name, sizeof name, "redviz_record_%d_%d", wide, narrow);
            if (emitter->uses_record[wide][narrow]) good = good && want_probe(probe, wanted, name, error);
        }
    for (int narrow = 0; narrow < 2; narrow++) {
        snprintf(name, sizeof name, "redviz_branch_%d", narrow);
        if (emitter->uses_branch[narrow]) good = good && want_probe(probe, wanted, name, error);
    }
    return good;
}

static bool print_probes(PtxModule *probe, const Emitter *emitter, Text *out, Error *error) {
    bool *wanted = memory_new((size_t)probe->function_count + 1);
    bool good = want_probes(probe, wanted, emitter, error);
    for (int i = 0; good && i < probe->item_count; i++) {
        const PtxItem *item = &probe->items[i];
        bool is_wanted = item->kind == PTX_ITEM_FUNCTION && wanted[item->function->index];
        if (item->kind == PTX_ITEM_VARIABLE || is_wanted) ptx_item_print(item, out);
    }
    free(wanted);
    return good;
}

/* ---- the module -------------------------------------------------------------------------------------- */

static bool is_ours(const char *name) {
    return !strncmp(name, "redviz_", strlen("redviz_"));
}

static bool check_module(const PtxModule *module, Error *error) {
    if (module->address_bytes != 8)
        return error_set_at(error, module->file, 0, 0,
                            "PTX with 32-bit addresses cannot be instrumented; compile it for 64 bits");
    bool before = false;
    for (int i = 0; i < module->function_count; i++) before |= is_ours(module->functions[i]->name);
    for (int i = 0; i < module->variable_count; i++) before |= is_ours(module->variables[i]->name);
    if (!before) return true;
    return error_set_at(error, module->file, 0, 0,
                        "this PTX has been instrumented before (names begin with redviz_); use the original");
}

static bool is_new(const Build *build, int program, const PtxFunction *function) {
    for (int p = 0; p < program; p++)
        if (ptx_program_function(build->programs[p], function) >= 0) return false;
    return true;
}

static void find_sites(Build *build) {
    for (int p = 0; p < build->program_count; p++) {
        const PtxProgram *program = build->programs[p];
        for (int f = 0; f < program->function_count; f++) {
            if (!is_new(build, p, program->functions[f].function)) continue;
            name_all(build, program->functions[f].function);
            plan_function(build, program, &program->functions[f]);
        }
    }
    number_sites(build);
    find_symbols(build);
}

static bool print_all(Build *build, const char *probe_text, Text *out, Error *error) {
    PtxModule *probe = ptx_module_parse(probe_text, strlen(probe_text), "probe.ptx", error);
    if (!probe) return false;
    Text functions = {0};
    Emitter emitter = {.sites = build->sites, .out = &functions};
    print_functions(build, &emitter);
    print_header(build, probe, out);
    bool good = print_probes(probe, &emitter, out, error);
    text_add_bytes(out, text_string(&functions), functions.length);
    text_done(&functions);
    ptx_module_free(probe);
    return good;
}

bool instrument(const PtxProgram *const *programs, int program_count, const char *probe, bool approximate,
                Text *out, InstrumentSites *sites, Error *error) {
    *sites = (InstrumentSites){.module = programs[0]->module};
    PtxModule *module = programs[0]->module;
    if (!check_module(module, error)) return false;
    size_t functions = (size_t)module->function_count + 1, variables = (size_t)module->variable_count + 1;
    Build build = {.module = module,
                   .programs = programs,
                   .program_count = program_count,
                   .approximate = approximate,
                   .sites = sites};
    build.function_wanted = memory_new(functions);
    build.function_named = memory_new(functions);
    build.variable_named = sites->has_variable = arena_new(&sites->arena, variables);
    build.site_of = memory_new(functions * sizeof *build.site_of);
    find_sites(&build);
    bool good = print_all(&build, probe, out, error);
    for (size_t i = 0; i < functions; i++) free(build.site_of[i]);
    free(build.site_of);
    free(build.function_wanted);
    free(build.function_named);
    if (!good) instrument_sites_done(sites);
    return good;
}

void instrument_sites_done(InstrumentSites *sites) {
    arena_done(&sites->arena);
    *sites = (InstrumentSites){0};
}

/* ---- settings --------------------------------------------------------------------------------------- */

uint64_t instrument_region_minimum(const InstrumentSites *sites, uint32_t block_threads) {
    enum { ROOM = 4096 };
    uint64_t bytes = region_records_at(sites, block_threads) + ROOM, step = INSTRUMENT_REGION_ALIGNMENT;
    return (bytes + step - 1) / step * step;
}

void instrument_settings(const InstrumentSites *sites, const InstrumentSettings *settings,
                         uint8_t out[INSTRUMENT_SETTINGS_BYTES]) {
    uint64_t wide[4] = {settings->buffer, settings->region_bytes, settings->first, settings->last};
    uint32_t narrow[4] = {region_slots_at(sites), (uint32_t)region_records_at(sites, settings->block_threads),
                          (uint32_t)sites->spin_count,
                          settings->spin_limit ? settings->spin_limit : INSTRUMENT_SPIN_LIMIT};
    memcpy(out, wide, sizeof wide);
    memcpy(out + sizeof wide, narrow, sizeof narrow);
}
