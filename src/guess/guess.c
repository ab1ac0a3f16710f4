#define _POSIX_C_SOURCE 200809L
#include "guess/guess_state.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

typedef struct Planner { /* the state while one launch is planned */
    Guess *guess;
    GuessSource source;
    PtxFunction *entry;
    ExpressionName n; /* what the launch passes as n, which its grid may be made of; name NULL: nothing */
    PlanLaunch *launch;
    GuessParameter parameters[GUESS_PARAMETERS];
    bool reads_block, reads_grid, reads_shared, reads_arguments;
    Text guessed, read;
} Planner;

/* ---- sizes --------------------------------------------------------------------------------------------- */

/* Threads: as asked, as the PTX wants them, as the file says, else 256. */
static bool choose_block(Planner *planner, Error *error) {
    const GuessRequest *request = &planner->guess->request;
    const PtxFunction *entry = planner->entry;
    const HostLaunch *host = planner->source.launch;
    const uint32_t *required = entry->required_threads;
    uint32_t *block = planner->launch->block, read[3] = {0};
    uint64_t most = launch_volume(entry->maximum_threads);
    bool is_open = !request->block[0] && !required[0];
    planner->reads_block =
        is_open && host && host_code_size(planner->source.code, host->block, &planner->n, read);
    if (planner->reads_block && launch_volume(read) > 1024)
        return error_set(error,
                         "--block: the launch in line %d has blocks of %" PRIu64
                         " threads, and no GPU starts more than 1024",
                         host->line, launch_volume(read));
    for (int i = 0; i < 3; i++) {
        block[i] = request->block[i]      ? request->block[i]
                   : required[0]          ? required[i] + !required[i]
                   : request->block[0]    ? 1
                   : planner->reads_block ? read[i]
                   : i                    ? 1
                                          : GUESS_BLOCK;
        if (required[i] && block[i] != required[i])
            return error_set(error, "--block: %s requires %ux%ux%u threads (.reqntid)", entry->name,
                             required[0], required[1], required[2]);
    }
    if (is_open && !planner->reads_block && most && most < block[0]) block[0] = (uint32_t)most;
    return true;
}

/* Blocks: as asked, as the file says, else a thread for each element. */
static bool choose_grid(Planner *planner, Error *error) {
    enum {
        RESIDENT = 132
    }; /* blocks of a guessed cooperative launch: one for each multiprocessor of an H200 */
    static const uint32_t limits[3] = {INT_MAX, 65535, 65535};
    const GuessRequest *request = &planner->guess->request;
    const HostLaunch *host = planner->source.launch;
    PlanLaunch *launch = planner->launch;
    uint32_t read[3] = {0};
    uint64_t threads = launch_volume(launch->block),
             usual = (planner->guess->account.n + threads - 1) / threads;
    planner->reads_grid =
        !request->grid[0] && host && host_code_size(planner->source.code, host->grid, &planner->n, read);
    if (launch->cooperative && usual > RESIDENT) usual = RESIDENT;
    for (int i = 0; i < 3; i++) {
        uint64_t blocks = planner->reads_grid ? read[i] : i ? 1 : usual;
        uint64_t cluster = launch->cluster[0] ? launch->cluster[i] : planner->entry->required_cluster[i];
        if (cluster && !planner->reads_grid) blocks = (blocks + cluster - 1) / cluster * cluster;
        if (request->grid[0]) blocks = request->grid[i] ? request->grid[i] : 1;
        if (blocks > limits[i])
            return error_set(error, "--grid: %" PRIu64 " blocks are too many; give --grid or a smaller --n",
                             blocks);
        launch->grid[i] = (uint32_t)blocks;
    }
    uint64_t warps = (threads + 31) / 32;
    if (request->has_budget || launch_volume(launch->grid) <= GUESS_WARPS / warps) return true;
    return error_set(
        error,
        "--grid: %" PRIu64 " blocks of %" PRIu64 " threads would take very long to emulate; use a "
        "smaller --grid or --n, or --max-instructions N to run up to N warp instructions of them",
        launch_volume(launch->grid), threads);
}

static void choose_shared(Planner *planner) {
    const GuessRequest *request = &planner->guess->request;
    const HostLaunch *host = planner->source.launch;
    ExpressionValue read = {0};
    uint32_t usual = guess_shared(planner->guess, planner->entry);
    planner->launch->dynamic_shared_bytes = request->shared_bytes;
    if (request->has_shared) return;
    planner->reads_shared = host &&
                            host_code_number(planner->source.code, host->shared, &planner->n, &read) &&
                            read.number >= 0 && read.number <= 227 << 10;
    planner->launch->dynamic_shared_bytes = planner->reads_shared ? (uint32_t)read.number : usual;
}

/* Cooperative groups read where the barrier of the grid lies from these. */
static bool syncs_grid(const PtxFunction *entry) {
    for (int i = 0; i < entry->statement_count; i++) {
        const PtxInstruction *instruction = entry->statements[i].instruction;
        for (int k = 0;
             entry->statements[i].kind == PTX_STATEMENT_INSTRUCTION && k < instruction->operand_count; k++) {
            const PtxOperand *operand = &instruction->operands[k];
            if (operand->kind == PTX_OPERAND_SPECIAL && operand->name && !strcmp(operand->name, "%envreg2"))
                return true;
        }
    }
    return false;
}

/* ---- n and the arguments ------------------------------------------------------------------------------- */

/* Elements: as asked, as the launch passes them, as long as an array of the host, else 2^20. */
static void choose_n(Planner *planner) {
    Guess *guess = planner->guess;
    uint64_t *n = &guess->account.n;
    *n = guess->request.n;
    for (int i = 0; i < planner->entry->parameter_count && i < GUESS_PARAMETERS; i++) {
        const GuessParameter *parameter = &planner->parameters[i];
        if (parameter->is_n && parameter->text) planner->n.name = parameter->text;
        if (*n) continue;
        if (parameter->is_n && parameter->is_literal && parameter->value.number >= 1)
            *n = (uint64_t)parameter->value.number;
    }
    for (int i = 0; i < planner->entry->parameter_count && i < GUESS_PARAMETERS && !*n; i++)
        if (planner->parameters[i].is_input) *n = planner->parameters[i].count;
    if (!*n) *n = GUESS_N;
    planner->n.value = expression_integer((int64_t)*n);
    if (!planner->n.name) planner->n.name = "";
}

/* Every argument is literal, or is the --n that was asked for. */
static bool reads_arguments(const Planner *planner) {
    bool all =
        planner->source.launch && planner->source.launch->item_count == planner->entry->parameter_count;
    for (int i = 0; i < planner->entry->parameter_count && i < GUESS_PARAMETERS; i++) {
        const GuessParameter *parameter = &planner->parameters[i];
        all &= parameter->is_literal || (parameter->is_n && planner->guess->request.n);
    }
    return all;
}

static bool reads_scalars(const Planner *planner) {
    bool all = true;
    for (int i = 0; i < planner->entry->parameter_count && i < GUESS_PARAMETERS; i++) {
        const GuessParameter *parameter = &planner->parameters[i];
        all &=
            parameter->is_pointer || parameter->is_literal || (parameter->is_n && planner->guess->request.n);
    }
    return all;
}

static void print_size(const char *option, const uint32_t size[3], Text *out) {
    int count = size[2] != 1 ? 3 : size[1] != 1 ? 2 : 1;
    text_print(out, " --%s %u", option, size[0]);
    for (int i = 1; i < count; i++) text_print(out, ",%u", size[i]);
}

static void say_origins(Planner *planner, const char *args) {
    Guess *guess = planner->guess;
    const GuessRequest *request = &guess->request;
    const PlanLaunch *launch = planner->launch;
    GuessAccount *account = &guess->account;
    bool says_arguments = !request->args && planner->entry->parameter_count;
    account->reads_arguments = says_arguments && planner->reads_arguments;
    account->invents_arguments = says_arguments && !planner->reads_arguments;
    account->reads_scalars = says_arguments && reads_scalars(planner);
    account->invents_block =
        !request->block[0] && !planner->entry->required_threads[0] && !planner->reads_block;
    if (says_arguments)
        text_print(planner->reads_arguments ? &planner->read : &planner->guessed, " --args '%s'", args);
    if (!request->block[0] && !planner->entry->required_threads[0])
        print_size("block", launch->block, planner->reads_block ? &planner->read : &planner->guessed);
    if (!request->grid[0])
        print_size("grid", launch->grid, planner->reads_grid ? &planner->read : &planner->guessed);
    if (!request->has_shared && launch->dynamic_shared_bytes)
        text_print(planner->reads_shared ? &planner->read : &planner->guessed, " --shared %u",
                   launch->dynamic_shared_bytes);
    if (launch->cooperative && !request->cooperative)
        text_add(planner->source.launch ? &planner->read : &planner->guessed, " --cooperative");
    if (!request->n && account->n != GUESS_N)
        text_print(planner->reads_arguments ? &planner->read : &planner->guessed, " --n %" PRIu64,
                   account->n);
    if (planner->guessed.length)
        account->guessed =
            arena_copy_text(&guess->arena, planner->guessed.data + 1, planner->guessed.length - 1);
    if (!planner->read.length || !planner->source.launch) return;
    text_print(&planner->read, " (line %d)", planner->source.launch->line);
    account->read = arena_copy_text(&guess->arena, planner->read.data + 1, planner->read.length - 1);
}

/* The type of a buffer that --args names, against what the kernel declares: bits of another type are read as
 * numbers that no one meant. Vectors are left out: a kernel may load halves as float4. */
static bool check_types(const Planner *planner, const char *args, Error *error) {
    Declared declared[GUESS_PARAMETERS] = {{.is_known = false}};
    const Plan *plan = planner->guess->plan;
    declared_list(planner->entry, planner->guess->account.n, declared);
    for (int i = 0; args && i < planner->launch->argument_count && i < GUESS_PARAMETERS; i++) {
        int b = planner->launch->arguments[i].buffer;
        PtxType wanted = declared[i].type;
        bool is_float = declared[i].is_known && declared[i].is_pointer && declared[i].vector == 1 &&
                        wanted != PTX_NO_TYPE && ptx_type_is_float(wanted);
        if (b < 0 || !is_float || plan->buffers[b].type == wanted) continue;
        const char *name = plan->buffers[b].name, *type = plan_type_name(wanted);
        return error_set(error,
                         "--args: %s is %s[], and parameter %d of the kernel is %s%s *: write %s=%s[n]", name,
                         plan_type_name(plan->buffers[b].type), i + 1,
                         declared[i].is_constant ? "const " : "", type, name, type);
    }
    return true;
}

static bool plan_arguments(Planner *planner, Error *error) {
    Guess *guess = planner->guess;
    const GuessRequest *request = &guess->request;
    PlanLaunch *launch = planner->launch;
    PlanVariables variables = {guess->account.n, launch_volume(launch->block), launch_volume(launch->grid)};
    int count = planner->entry->parameter_count < GUESS_PARAMETERS ? planner->entry->parameter_count
                                                                   : GUESS_PARAMETERS;
    Text args = {0};
    guess_print_parameters(planner->parameters, count, variables.n, guess_fill_text(guess), &args);
    planner->reads_arguments = reads_arguments(planner);
    say_origins(planner, text_string(&args));
    guess->account.arguments =
        request->args ? request->args : arena_copy_text(&guess->arena, text_string(&args), args.length);
    text_done(&args);
    return plan_parse_arguments(guess->plan, launch, planner->entry, guess->account.arguments, &variables,
                                error) &&
           check_types(planner, request->args, error) &&
           (!request->expect || expect_read(request->expect, guess->plan, error));
}

static bool plan_launch(Planner *planner, Error *error) {
    Guess *guess = planner->guess;
    HostCode *code = planner->source.code;
    bool is_choice;
    planner->entry = guess_find_entry(guess, code, &is_choice, error);
    if (!planner->entry || !guess_parse(guess, planner->entry, error)) return false;
    if (is_choice)
        text_print(&planner->guessed, " --entry '%s'",
                   ptx_readable_name(guess->request.module, planner->entry->name));
    planner->source.kernel = guess_bare_name(guess, planner->entry);
    const HostLaunch *host = planner->source.launch = guess_find_launch(guess, code, planner->entry);
    PlanLaunch *launch = planner->launch = plan_add_launch(guess->plan, planner->entry->name);
    launch->cooperative =
        guess->request.cooperative || (host && host->is_cooperative) || syncs_grid(planner->entry);
    memcpy(launch->cluster, guess->request.cluster, sizeof launch->cluster);
    guess_parameters(planner->entry, &planner->source, guess->request.n, &guess->arena, planner->parameters);
    choose_n(planner);
    if (!choose_block(planner, error) || !choose_grid(planner, error)) return false;
    choose_shared(planner);
    return plan_arguments(planner, error);
}

static bool plan_one(Guess *guess, Error *error) {
    Planner *planner = memory_new(sizeof *planner);
    planner->guess = guess;
    planner->source.code = guess_host_code(&guess->request);
    guess->account.has_program = planner->source.code && host_code_has_main(planner->source.code);
    bool good = plan_launch(planner, error);
    host_code_free(planner->source.code);
    text_done(&planner->guessed);
    text_done(&planner->read);
    free(planner);
    return good;
}

bool guess_plan(Guess *guess, Plan *plan, Error *error) {
    *plan = (Plan){0};
    guess->plan = plan;
    guess->account = (GuessAccount){.n = guess->request.n};
    bool good = guess->request.launches ? guess_plan_launches(guess, error) : plan_one(guess, error);
    guess->plan = NULL;
    if (!good) {
        plan_free(plan);
        return false;
    }
    plan->expect = arena_copy_string(&plan->arena, guess->request.expect);
    guess->launch_count = plan->launch_count;
    for (int i = 0; i < plan->launch_count; i++)
        guess->entries[i] = ptx_module_find_entry(guess->request.module, plan->launches[i].entry, NULL);
    return true;
}

/* ---- life ---------------------------------------------------------------------------------------------- */

Guess guess_begin(const GuessRequest *request) {
    return (Guess){.request = *request};
}

void guess_done(Guess *guess) {
    free(guess->checked);
    arena_done(&guess->arena);
    *guess = (Guess){0};
}

Guess guess_of_plan(const GuessRequest *request, const Plan *plan, const PtxFunction *const *entries) {
    Guess guess = guess_begin(request);
    guess.launch_count = plan->launch_count;
    for (int i = 0; i < plan->buffer_count; i++) { /* of the inputs that are drawn at random */
        const PlanBuffer *buffer = &plan->buffers[i];
        bool is_drawn = buffer->fill == FILL_RANDOM || buffer->fill == FILL_DIGITS;
        if (is_drawn && buffer->count > guess.account.n) guess.account.n = buffer->count;
    }
    for (int i = 0; i < plan->buffer_count && !guess.account.n; i++) guess.account.n = plan->buffers[i].count;
    memcpy(guess.entries, entries, (size_t)plan->launch_count * sizeof *entries);
    return guess;
}

Guess guess_copy(const Guess *guess, PtxModule *module, const PtxFunction *const *entries) {
    Guess copy = *guess;
    copy.arena = (Arena){0};
    copy.checked = NULL;
    copy.checked_count = copy.checked_capacity = 0;
    copy.request.module = module;
    copy.verdict = (GuessVerdict){0};
    memcpy(copy.entries, entries, (size_t)copy.launch_count * sizeof *entries);
    return copy;
}
