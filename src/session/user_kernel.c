#define _POSIX_C_SOURCE 200809L
/* A kernel that is in no catalogue: which one of its file, and how it is launched. What the options do not say is read in the
 * file's host code, and what that does not say is guessed; both are kept apart, as options that can be copied. */
#include "session/state.h"

#include "catalog/expect.h"
#include "catalog/guess.h"
#include "catalog/uses.h"
#include "compile/host_code.h"
#include "session/user_chain.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    DEFAULT_BLOCK = 256,
    DEFAULT_N = 1 << 20,
    MOST_N = 1 << 22,    /* that is read in a file: more is emulated if it is asked for */
    USER_WARPS = 1 << 25 /* of a launch: a thread each for 2^30 elements */
};

typedef struct UserLaunch { /* what is known while the launch is planned */
    Session *session;
    HostCode *code;         /* NULL: a file of PTX */
    const HostLaunch *host; /* NULL: the file launches no such kernel */
    PtxFunction *entry;
    KernelShape shape;
    GuessHint hints[USES_PARAMETERS];
    bool reads_arguments; /* every argument's value and size is known from the file */
    bool reads_grid, reads_block, reads_shared;
    bool is_reduced; /* n is less than in the file */
    uint64_t side;
    Text guess, read;
} UserLaunch;

static bool is_cuda_source(const char *file) {
    const char *dot = strrchr(file, '.');
    return dot && !strcmp(dot, ".cu");
}

/* ---- which kernel --------------------------------------------------------------------------------------------- */

static HostCode *read_host_code(const SessionOptions *options) {
    enum { LIMIT_BYTES = 16 << 20 };
    char *text;
    size_t length;
    if (!is_cuda_source(options->file) || !text_read_file(options->file, LIMIT_BYTES, &text, &length, NULL))
        return NULL;
    HostCode *code = host_code_read(text);
    free(text);
    return code;
}

const char *session_launched_instance(Session *session) {
    HostCode *code = read_host_code(&session->options);
    const char *instance = NULL;
    for (int i = 0; code && i < host_code_launch_count(code) && !instance; i++) {
        const HostLaunch *launch = host_code_launch(code, i);
        if (launch->arguments && *launch->kernel)
            instance = arena_print(&session->arena, "%s<%s>", launch->kernel, launch->arguments);
    }
    host_code_free(code);
    return instance;
}

/* "sum" of "space::sum<float,256>". */
static bool is_bare_name(const char *readable, const char *name) {
    size_t bare = strcspn(readable, "<(");
    const char *last = readable;
    for (const char *c = readable; c + 2 < readable + bare; c++)
        if (c[0] == ':' && c[1] == ':') last = c + 2;
    size_t length = bare - (size_t)(last - readable);
    return strlen(name) == length && !memcmp(name, last, length);
}

static PtxFunction *entry_of_launch(Session *session, const HostLaunch *launch) {
    PtxModule *module = session->code.module;
    Error ignored = {0};
    if (launch->arguments) {
        const char *whole = arena_print(&session->arena, "%s<%s>", launch->kernel, launch->arguments);
        PtxFunction *exact = ptx_module_find_entry(module, whole, &ignored);
        if (exact) return exact;
    }
    for (int i = 0; *launch->kernel && i < module->function_count; i++) {
        PtxFunction *function = module->functions[i];
        if (function->is_entry && function->has_body &&
            is_bare_name(ptx_readable_name(module, function->name), launch->kernel))
            return function;
    }
    return NULL;
}

static int count_entries(const PtxModule *module) {
    int count = 0;
    for (int i = 0; i < module->function_count; i++)
        count += module->functions[i]->is_entry && module->functions[i]->has_body;
    return count;
}

/* Of the launches of one template, as in `switch (threads)`, that whose arguments have the block's size. */
static bool names_block(UserLaunch *user, const HostLaunch *launch) {
    uint32_t block[3];
    bool is_read = host_code_evaluate_size(user->code, launch, launch->block, block);
    const SessionOptions *options = &user->session->options;
    uint64_t threads = options->block[0] ? options->block[0] : is_read ? launch_volume(block) : DEFAULT_BLOCK;
    for (const char *at = launch->arguments; at && *at; at += strcspn(at, ","), at += *at == ',')
        if (strtoull(at + strspn(at, " "), NULL, 10) == threads) return true;
    return false;
}

static const HostLaunch *best_instance(UserLaunch *user, const HostLaunch *launch) {
    if (!launch->arguments || names_block(user, launch)) return launch;
    for (int i = 0; i < host_code_launch_count(user->code); i++) {
        const HostLaunch *other = host_code_launch(user->code, i);
        if (!strcmp(other->kernel, launch->kernel) && other->arguments && names_block(user, other))
            return other;
    }
    return launch;
}

/* The first kernel that the file launches whose threads work together, else the first that it launches, else the one that
 * is written first. */
static PtxFunction *choose_entry(UserLaunch *user) {
    PtxModule *module = user->session->code.module;
    PtxFunction *first = NULL;
    for (int i = 0; i < host_code_launch_count(user->code); i++) {
        PtxFunction *entry =
            entry_of_launch(user->session, best_instance(user, host_code_launch(user->code, i)));
        if (!entry || !ptx_function_parse(module, entry, NULL)) continue;
        if (uses_communicate(entry)) return entry;
        if (!first) first = entry;
    }
    size_t place = SIZE_MAX;
    for (int i = 0; !first && i < module->function_count; i++) {
        PtxFunction *entry = module->functions[i];
        if (!entry->is_entry || !entry->has_body || !ptx_function_parse(module, entry, NULL)) continue;
        size_t at = host_code_place(user->code, ptx_readable_name(module, entry->name)) +
                    (uses_communicate(entry) ? 0 : SIZE_MAX / 2);
        if (at < place) {
            place = at;
            first = entry;
        }
    }
    return first;
}

/* As it was asked for. An instance that the compiler has just made may have another name: arguments that are enumerators,
 * aliases or sums are spelled as their values there. It is the only one of its template then. */
static PtxFunction *find_entry(UserLaunch *user, Error *error) {
    Session *session = user->session;
    const SessionOptions *options = &session->options;
    int entries = count_entries(session->code.module);
    if (!options->entry && user->code && entries > 1) {
        PtxFunction *chosen = choose_entry(user);
        if (chosen)
            text_print(&user->guess, " --entry '%s'", ptx_readable_name(session->code.module, chosen->name));
        return chosen;
    }
    PtxFunction *entry = ptx_module_find_entry(session->code.module, options->entry, error);
    if (entry || !options->entry || !strchr(options->entry, '<') || !is_cuda_source(options->file))
        return entry;
    size_t bare = strcspn(options->entry, "<");
    Error ignored = {0};
    entry = ptx_module_find_entry(session->code.module,
                                  arena_copy_text(&session->arena, options->entry, bare), &ignored);
    if (entry && error) *error = (Error){0};
    return entry;
}

/* A launch that only makes an instance of a template passes no pointers. */
static bool passes_nothing(const UserLaunch *user, const HostLaunch *launch) {
    int pointers = 0, null = 0;
    for (int i = 0; i < launch->item_count && i < user->entry->parameter_count; i++) {
        const char *item = launch->items[i];
        if (!guess_element_bytes(user->entry, i)) continue;
        pointers++;
        null += !strcmp(item, "nullptr") || !strcmp(item, "NULL") || !strcmp(item, "0");
    }
    return pointers && null == pointers;
}

/* One thread: it warms the GPU up. */
static bool is_single(UserLaunch *user, const HostLaunch *launch) {
    uint32_t grid[3], block[3];
    return host_code_evaluate_size(user->code, launch, launch->grid, grid) &&
           host_code_evaluate_size(user->code, launch, launch->block, block) &&
           launch_volume(grid) * launch_volume(block) == 1;
}

/* The file's launch of it; one through a pointer, or a macro, may be of any kernel. */
static const HostLaunch *find_launch(UserLaunch *user) {
    const HostLaunch *any = NULL;
    for (int i = 0; user->code && i < host_code_launch_count(user->code); i++) {
        const HostLaunch *launch = host_code_launch(user->code, i);
        PtxFunction *entry = entry_of_launch(user->session, launch);
        if (passes_nothing(user, launch) ||
            (is_single(user, launch) && i + 1 < host_code_launch_count(user->code)))
            continue;
        if (entry == user->entry) return launch;
        bool is_its =
            is_bare_name(ptx_readable_name(user->session->code.module, user->entry->name), launch->kernel);
        if ((is_its || !entry) && !any && launch->item_count == user->entry->parameter_count) any = launch;
    }
    return any;
}

/* ---- sizes ---------------------------------------------------------------------------------------------------- */

static const char *bare_name(UserLaunch *user) {
    const char *readable = ptx_readable_name(user->session->code.module, user->entry->name);
    size_t bare = strcspn(readable, "<("), begin = bare;
    while (begin > 0 && readable[begin - 1] != ':') begin--;
    return arena_copy_text(&user->session->arena, readable + begin, bare - begin);
}

/* reduce<int, 512>: the only argument that can be a number of threads; 0: there is none, or several. */
static uint64_t template_block(UserLaunch *user) {
    const char *readable = ptx_readable_name(user->session->code.module, user->entry->name),
               *at = strchr(readable, '<');
    uint64_t found = 0;
    for (int count = 0; at && *at; at += 1 + strcspn(at + 1, ",>")) {
        uint64_t number = strtoull(at + 1 + strspn(at + 1, " "), NULL, 10);
        bool fits = number >= 64 && number <= 1024 && number % 32 == 0;
        if (fits && ++count > 1 && number != found) return 0;
        if (fits) found = number;
    }
    return found;
}

/* Threads: as asked, as the PTX wants them, as the file says, else 256 in as many dimensions as the kernel looks at. */
static bool choose_block(UserLaunch *user, uint32_t block[3], Error *error) {
    static const uint32_t usual[][3] = {{DEFAULT_BLOCK, 1, 1}, {16, 16, 1}, {8, 8, 4}};
    const SessionOptions *options = &user->session->options;
    const PtxFunction *entry = user->entry;
    const uint32_t *required = entry->required_threads;
    uint64_t most = launch_volume(entry->maximum_threads);
    uint32_t read[3];
    bool is_free = !options->block[0] && !required[0];
    user->reads_block = is_free && user->host &&
                        host_code_evaluate_size(user->code, user->host, user->host->block, read) &&
                        launch_volume(read) <= 1024;
    uint32_t usual_block[3];
    memcpy(usual_block, usual[user->shape.dimensions - 1], sizeof usual_block);
    uint64_t bound = user->code ? host_code_launch_bound(user->code, bare_name(user)) : 0,
             named = template_block(user);
    if (user->shape.dimensions == 1 && (named || bound)) usual_block[0] = (uint32_t)(named ? named : bound);
    for (int i = 0; i < 3; i++) {
        block[i] = options->block[i]   ? options->block[i]
                   : required[0]       ? required[i] + !required[i]
                   : options->block[0] ? 1
                   : user->reads_block ? read[i]
                                       : usual_block[i];
        if (required[i] && block[i] != required[i])
            return error_set(error, "--block: %s requires %ux%ux%u threads (.reqntid)", entry->name,
                             required[0], required[1], required[2]);
    }
    while (is_free && most && launch_volume(block) > most)
        for (int i = 0; i < 3; i++) /* halves the largest: all are powers of two */
            if (block[i] >= block[0] && block[i] >= block[1] && block[i] >= block[2]) {
                block[i] /= 2;
                break;
            }
    return true;
}

/* out[blockIdx.x], of a buffer whose size the file says: a block for each element. 0: there is none. */
static uint64_t blocks_of_output(const UserLaunch *user) {
    Use uses[USES_PARAMETERS];
    uses_find(user->entry, uses);
    for (int i = 0; i < user->entry->parameter_count && i < USES_PARAMETERS; i++)
        if (uses[i].count == USE_GRID && uses[i].is_written && user->hints[i].count)
            return user->hints[i].count;
    return 0;
}

/* One thread an element, one block a row, or one block where the kernel does not look at its number. */
static uint64_t usual_blocks(const UserLaunch *user, int axis, const uint32_t block[3]) {
    bool by_block;
    bool has_rows = guess_has_rows(user->entry, &by_block) && user->shape.dimensions == 1;
    uint64_t by_output = axis == 0 && user->shape.dimensions == 1 ? blocks_of_output(user) : 0;
    if (!user->shape.counts_blocks || axis >= user->shape.dimensions) return 1;
    if (by_output) return by_output;
    return has_rows && by_block ? user->side : (user->side + block[axis] - 1) / block[axis];
}

/* Blocks: as asked, as the file says, else as is usual. */
static bool choose_grid(UserLaunch *user, PlanLaunch *launch, Error *error) {
    static const uint32_t limits[3] = {INT_MAX, 65535, 65535};
    const SessionOptions *options = &user->session->options;
    uint32_t read[3];
    user->reads_grid = !options->grid[0] && user->host &&
                       host_code_evaluate_size(user->code, user->host, user->host->grid, read);
    for (int i = 0; i < 3; i++) {
        uint64_t blocks = user->reads_grid ? read[i] : usual_blocks(user, i, launch->block);
        if (!i && !user->reads_grid)
            blocks = (blocks + ((uint64_t)1 << user->session->halvings) - 1) >> user->session->halvings;
        uint64_t cluster = launch->cluster[0] ? launch->cluster[i] : user->entry->required_cluster[i];
        if (cluster && !user->reads_grid) blocks = (blocks + cluster - 1) / cluster * cluster;
        if (options->grid[0]) blocks = options->grid[i] ? options->grid[i] : 1;
        if (blocks > limits[i])
            return error_set(error, "--grid: %" PRIu64 " blocks are too many; give --grid or a smaller --n",
                             blocks);
        launch->grid[i] = (uint32_t)blocks;
    }
    uint64_t warps = (launch_volume(launch->block) + 31) / 32;
    if (options->instruction_budget || launch_volume(launch->grid) <= USER_WARPS / warps) return true;
    return error_set(
        error,
        "--grid: %" PRIu64 " blocks of %" PRIu64 " threads would take very long to emulate; use a "
        "smaller --grid or --n, or --max-instructions N to run up to N warp instructions of them",
        launch_volume(launch->grid), launch_volume(launch->block));
}

static void choose_shared(UserLaunch *user, PlanLaunch *launch) {
    enum { USUAL_SHARED = 48 << 10 };
    const SessionOptions *options = &user->session->options;
    launch->dynamic_shared_bytes = options->shared_bytes;
    if (!user->shape.has_dynamic_shared || options->has_shared) return;
    HostNumber read = {0};
    if (user->host && user->host->shared)
        read = host_code_evaluate(user->code, user->host, user->host->shared);
    user->reads_shared = read.is_known && read.number >= 1 && read.number <= 227 << 10;
    if (user->reads_shared) {
        launch->dynamic_shared_bytes = (uint32_t)read.number;
    } else if (user->shape.static_shared < USUAL_SHARED) {
        launch->dynamic_shared_bytes = USUAL_SHARED - (uint32_t)user->shape.static_shared;
        guess_shared_beside(options->file, &launch->dynamic_shared_bytes);
    }
}

/* ---- n, and the arguments that the file tells ------------------------------------------------------------------- */

static uint64_t elements_of(UserLaunch *user, int index, size_t *identity, bool *is_free) {
    uint64_t bytes = guess_element_bytes(user->entry, index);
    if (!bytes || index >= user->host->item_count) return 0;
    HostPointer pointer = host_code_pointer(user->code, user->host, index);
    *identity = pointer.identity;
    *is_free = pointer.bytes.is_free;
    if (!pointer.bytes.is_known || pointer.bytes.number < (double)bytes) return 0;
    return (uint64_t)pointer.bytes.number / bytes;
}

/* The argument with the most elements: the input, whose size is n. -1: none is known. */
static int largest_argument(UserLaunch *user, uint64_t *count, bool *is_free) {
    int largest = -1;
    *count = 0;
    for (int i = 0; i < user->entry->parameter_count && i < USES_PARAMETERS; i++) {
        size_t identity;
        bool free_size = false;
        uint64_t elements = elements_of(user, i, &identity, &free_size);
        if (elements <= *count) continue;
        *count = elements;
        *is_free = free_size;
        largest = i;
    }
    return largest;
}

/* It is only written, and the size of what is read is not known. */
static bool is_only_output(UserLaunch *user, int index) {
    Use uses[USES_PARAMETERS];
    bool has_unknown = false;
    uses_find(user->entry, uses);
    for (int i = 0; i < user->entry->parameter_count && i < USES_PARAMETERS; i++) {
        size_t identity;
        bool is_free;
        has_unknown |= uses[i].is_read && guess_element_bytes(user->entry, i) &&
                       !elements_of(user, i, &identity, &is_free);
    }
    return has_unknown && !uses[index].is_read;
}

/* How many elements: as asked, as the file says, if that can be emulated, else 2^20. Free sizes are as many, or the side of a
 * square where two of them meet. */
static void choose_n(UserLaunch *user) {
    uint64_t *n = &user->session->options.catalog.n, count = 0;
    bool is_asked = *n != 0, is_free = false;
    if (!is_asked) *n = DEFAULT_N;
    if (!user->host) return;
    host_code_set_n(user->code, *n);
    bool has_two = host_code_free_sizes(user->code, user->host) > 1; /* rows and columns */
    if (has_two) host_code_set_n(user->code, guess_side(*n, 2));
    int largest = largest_argument(user, &count, &is_free);
    if (largest < 0) { /* a number that it is given */
        for (int i = 0; i < user->host->item_count && !is_asked; i++) {
            HostNumber value = host_code_evaluate(user->code, user->host, user->host->items[i]);
            if (value.is_known && !value.is_float && !value.is_free && value.integer >= 256 &&
                value.integer <= MOST_N && (uint64_t)value.integer > count)
                *n = count = (uint64_t)value.integer;
        }
        return;
    }
    if (is_only_output(user, largest)) return; /* what it is made of is not known */
    uint64_t bytes = guess_element_bytes(user->entry, largest), wanted = is_asked         ? *n
                                                                         : count > MOST_N ? DEFAULT_N
                                                                                          : count;
    if (is_free && count > *n) {
        host_code_set_n(user->code, guess_side(*n, 2));
        largest_argument(user, &count, &is_free);
        wanted = count;
    } else if (wanted != count && !host_code_resize(user->code, user->host, largest, wanted * bytes)) {
        wanted = is_asked ? *n : count;
    } else if (wanted != count) {
        user->is_reduced = !is_asked;
    }
    if (wanted < (uint64_t)1 << 40) *n = wanted;
}

static void read_hints(UserLaunch *user) {
    size_t identities[USES_PARAMETERS] = {0};
    Use uses[USES_PARAMETERS];
    uses_find(user->entry, uses);
    user->reads_arguments = user->host && user->host->item_count == user->entry->parameter_count;
    for (int i = 0;
         user->host && i < user->entry->parameter_count && i < user->host->item_count && i < USES_PARAMETERS;
         i++) {
        GuessHint *hint = &user->hints[i];
        bool is_free;
        if (guess_element_bytes(user->entry, i)) {
            hint->count = elements_of(user, i, &identities[i], &is_free);
            for (int k = 0; k < i && identities[i] && !hint->is_same; k++)
                if (identities[k] == identities[i]) {
                    hint->is_same = true;
                    hint->same_as = k;
                }
            user->reads_arguments &= hint->count || hint->is_same;
            continue;
        }
        HostNumber value = host_code_evaluate(user->code, user->host, user->host->items[i]);
        bool is_unsuited = value.is_free && ptx_type_is_float(user->entry->parameters[i]->type);
        hint->has_value = value.is_known && !is_unsuited;
        hint->is_float = value.is_float;
        hint->integer = value.integer;
        hint->number = value.number;
        user->reads_arguments &= hint->has_value && !value.is_free;
    }
}

/* ---- the plan --------------------------------------------------------------------------------------------------- */

static void print_size(const char *option, const uint32_t size[3], Text *out) {
    int count = size[2] != 1 ? 3 : size[1] != 1 ? 2 : 1;
    text_print(out, " --%s %u", option, size[0]);
    for (int i = 1; i < count; i++) text_print(out, ",%u", size[i]);
}

static void say_origins(UserLaunch *user, const PlanLaunch *launch, const char *args) {
    Session *session = user->session;
    const SessionOptions *options = &session->options;
    bool has_shared = user->shape.has_dynamic_shared && !options->has_shared && launch->dynamic_shared_bytes;
    if (!options->args && user->entry->parameter_count)
        text_print(user->reads_arguments ? &user->read : &user->guess, " --args '%s'", args);
    if (!options->block[0] && !user->entry->required_threads[0])
        print_size("block", launch->block, user->reads_block ? &user->read : &user->guess);
    if (!options->grid[0]) print_size("grid", launch->grid, user->reads_grid ? &user->read : &user->guess);
    if (has_shared)
        text_print(user->reads_shared ? &user->read : &user->guess, " --shared %u",
                   launch->dynamic_shared_bytes);
    if (user->guess.length)
        session->kernel.guess =
            arena_copy_text(&session->arena, user->guess.data + 1, user->guess.length - 1);
    if (!user->read.length) return;
    text_print(&user->read, " (line %d%s)", user->host->line, user->is_reduced ? ", with a smaller n" : "");
    session->kernel.read = arena_copy_text(&session->arena, user->read.data + 1, user->read.length - 1);
}

static bool plan_arguments(UserLaunch *user, PlanLaunch *launch, Error *error) {
    Session *session = user->session;
    const SessionOptions *options = &session->options;
    uint64_t n = options->catalog.n;
    Text args = {0};
    PlanVariables variables = {n, launch_volume(launch->block), launch_volume(launch->grid)};
    uint64_t grow[USES_PARAMETERS];
    for (int i = 0; i < USES_PARAMETERS; i++) grow[i] = session->grow[i] ? session->grow[i] : 1;
    GuessInput input = {.n = n,
                        .grid = variables.grid,
                        .side = user->side,
                        .fill = session_fill_text(session),
                        .has_fill = options->catalog.has_fill,
                        .shared_bytes = launch->dynamic_shared_bytes,
                        .hints = user->hints,
                        .grow = grow};
    guess_arguments(user->entry, &input, &args);
    session->kernel.arguments = arena_copy_text(&session->arena, text_string(&args), args.length);
    if (options->args) session->kernel.arguments = options->args;
    say_origins(user, launch, text_string(&args));
    text_done(&args);
    return plan_parse_arguments(&session->plan, launch, user->entry, session->kernel.arguments, &variables,
                                error) &&
           (!options->expect || expect_read(options->expect, &session->plan, error));
}

/* Nothing of its launch was asked for, or guessed. */
static bool is_as_read(const UserLaunch *user) {
    const SessionOptions *options = &user->session->options;
    bool is_asked = options->entry || options->args || options->grid[0] || options->block[0] ||
                    options->cluster[0] || options->has_shared || options->cooperative;
    return !is_asked && user->host && user->reads_arguments && user->reads_grid && user->reads_block;
}

static bool plan_launch(UserLaunch *user, Error *error) {
    Session *session = user->session;
    bool by_block;
    user->entry = find_entry(user, error);
    if (!user->entry || !ptx_function_parse(session->code.module, user->entry, error)) return false;
    user->shape = guess_shape(session->code.module, user->entry);
    user->host = find_launch(user);
    PlanLaunch *launch = plan_add_launch(&session->plan, user->entry->name);
    launch->cooperative = session->options.cooperative;
    memcpy(launch->cluster, session->options.cluster, sizeof launch->cluster);
    if (!choose_block(user, launch->block, error)) return false;
    choose_n(user);
    read_hints(user);
    int dimensions =
        user->shape.dimensions == 1 && guess_has_rows(user->entry, &by_block) ? 2 : user->shape.dimensions;
    user->side = guess_side(session->options.catalog.n, dimensions);
    choose_shared(user, launch);
    if (!choose_grid(user, launch, error) || !plan_arguments(user, launch, error)) return false;
    if (is_as_read(user)) session_plan_chain(session, user->code, user->host, user->entry, entry_of_launch);
    return true;
}

bool session_plan_user_kernel(Session *session, bool (*load)(Session *session, Error *error), Error *error) {
    const char *launches = session->options.launches;
    if (launches) return load(session, error) && session_plan_launches(session, launches, error);
    UserLaunch user = {.session = session, .code = read_host_code(&session->options)};
    bool good = load(session, error) && plan_launch(&user, error);
    host_code_free(user.code);
    text_done(&user.guess);
    text_done(&user.read);
    return good;
}
