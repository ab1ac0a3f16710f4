#define _POSIX_C_SOURCE 200809L
/* The plan of a kernel that is in no catalogue. What the options do not say is read in the file's host code,
 * and what that does not say is guessed; both are kept apart, as options that can be copied. */
#include "guess/user_launch.h"

#include "guess/user_chain.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    DEFAULT_N = 1 << 20,
    MOST_N =
        1
        << 22, /* that is read in a file: more is emulated if it is asked for, or if nothing can change it */
    MOST_KEPT = 1 << 25, /* where the file's sizes fit no other n */
    MOST_CHECKED =
        1
        << 26, /* results of more are not looked at: a smaller n is tried even where kernels are compiled with it */
    MOST_NUMBER = 1 << 26 /* of elements of arrays whose sizes are not read */
};

/* ---- n, and the arguments that the file tells ------------------------------------------------------------------- */

static uint64_t elements_of(UserLaunch *user, int index, size_t *identity, bool *is_free) {
    uint64_t bytes = guess_element_bytes(user->entry, index);
    if (!bytes || index >= user->host->item_count) return 0;
    HostPointer pointer = host_code_pointer(user->code, user->host, index);
    *identity = pointer.identity;
    *is_free = pointer.bytes.is_free;
    bool is_other = pointer.bytes.is_free && user->has_number; /* it says nothing of this n */
    bool is_absurd = pointer.bytes.number > 0x1p40; /* a size that was computed of what is not known */
    if (!pointer.bytes.is_known || is_other || is_absurd || pointer.bytes.number < (double)bytes) return 0;
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

/* It is written, and the size of what is read is not known. */
static bool is_only_output(UserLaunch *user, int index) {
    Use uses[USES_PARAMETERS];
    bool has_unknown = false;
    uses_find(user->entry, uses);
    for (int i = 0; i < user->entry->parameter_count && i < USES_PARAMETERS; i++) {
        size_t identity;
        bool is_free;
        has_unknown |= uses[i].is_read && uses[i].count == USE_ANY && guess_element_bytes(user->entry, i) &&
                       !elements_of(user, i, &identity, &is_free);
    }
    return has_unknown && uses[index].is_written;
}

/* Free sizes such that the largest argument has about `wanted` elements, or as many as it comes to. */
static uint64_t choose_free_size(UserLaunch *user, uint64_t wanted) {
    uint64_t count = 0, sizes[3] = {wanted, 0, guess_side(wanted, 2)};
    bool is_free;
    for (int i = 0; i < 3; i++) {
        if (i == 1 && count) sizes[1] = (uint64_t)((double)wanted * (double)wanted / (double)count);
        host_code_set_n(user->code, sizes[i] ? sizes[i] : 1);
        largest_argument(user, &count, &is_free);
        if (count <= wanted && count >= wanted / 4) return count;
    }
    for (uint64_t size = sizes[2]; size > 1 && count > MOST_N; size /= 2) {
        host_code_set_n(user->code, size / 2);
        largest_argument(user, &count, &is_free);
    }
    return count;
}

/* A number that it is given. */
static uint64_t largest_number(UserLaunch *user) {
    uint64_t largest = 0;
    for (int i = 0; i < user->host->item_count; i++) {
        HostNumber value = host_code_evaluate(user->code, user->host, user->host->items[i]);
        if (value.is_known && !value.is_float && !value.is_free && value.integer >= 256 &&
            value.integer <= MOST_NUMBER && (uint64_t)value.integer > largest)
            largest = (uint64_t)value.integer;
    }
    return largest;
}

static uint64_t blocks_of(UserLaunch *user, uint64_t n) {
    uint32_t grid[3];
    host_code_set_n(user->code, n);
    return host_code_evaluate_size(user->code, user->host, user->host->grid, grid) ? launch_volume(grid) : 0;
}

/* Its grid is the product of free sizes: many more blocks than elements would need, and not by a constant factor. */
static bool has_large_grid(UserLaunch *user, uint64_t n) {
    uint64_t half = blocks_of(user, n / 2), all = blocks_of(user, n);
    return all > n / 16 && half && all / half > 2;
}

/* Of argument `index`, which has `count` elements, `wanted`; false: the file allows no other number. */
static bool resize(UserLaunch *user, int index, uint64_t count, uint64_t wanted) {
    uint64_t bytes = wanted * guess_element_bytes(user->entry, index);
    GuessAccount *kernel = &user->guess->account;
    if (host_code_resize(user->code, user->host, index, bytes, false)) return true;
    kernel->is_cut = user->chooses_n && count > MOST_CHECKED && !user->guess->trial.keeps_n &&
                     host_code_resize(user->code, user->host, index, bytes, true);
    return kernel->is_cut;
}

/* The number that the kernel is given where free sizes decide what is allocated, but not the grid: it has at least an element
 * for each block. 0: there is none. */
static uint64_t number_of_grid(UserLaunch *user, uint64_t n) {
    uint64_t blocks = blocks_of(user, 2 * n), number = largest_number(user);
    return blocks && blocks == blocks_of(user, n) && number >= blocks ? number : 0;
}

/* How many elements: as asked, as the file says, if that can be emulated, else 2^20; a quarter of that, and so on, where that
 * took too long. Free sizes are as many, or the side of a square where two of them meet. */
static void choose_n(UserLaunch *user) {
    uint64_t *n = &user->guess->account.n, count = 0;
    int shift = 2 * user->guess->trial.quarterings;
    bool is_asked = *n != 0, is_free = false;
    user->guess->account.may_shrink = user->chooses_n = !is_asked;
    if (!is_asked) *n = DEFAULT_N >> shift;
    uint64_t reach = uses_reach(user->entry).elements;
    if (!is_asked && reach > 1 && reach < *n) *n -= *n % reach; /* whole blocks of so many */
    if (!user->host) return;
    host_code_set_n(user->code, *n);
    bool by_block, has_two = host_code_free_sizes(user->code, user->host) > 1; /* rows and columns */
    bool has_rows = guess_has_rows(user->entry, &by_block);
    has_two |= has_rows && !host_code_knows_size(user->code, user->host, user->host->grid);
    has_two |= has_large_grid(user, *n) || (has_rows && by_block && blocks_of(user, *n) >= *n);
    user->guess->account.has_sides = has_two;
    has_two &= !user->guess->trial.no_sides;
    uint64_t size = has_two ? guess_side(*n, 2 + user->guess->trial.more_sides) : *n;
    host_code_set_n(user->code, size);
    int largest = largest_argument(user, &count, &is_free);
    if (largest < 0) {
        uint64_t number = is_asked ? 0 : largest_number(user);
        if (number) *n = number;
        user->guess->account.may_shrink &= !number;
        return;
    }
    if (is_only_output(user, largest)) { /* what it is made of is not known, but for a number */
        uint64_t number = is_asked ? 0 : largest_number(user);
        if (number > *n) *n = number;
        return;
    }
    uint64_t most = user->guess->trial.keeps_n ? MOST_KEPT : MOST_N;
    uint64_t wanted = is_asked ? *n : count > most ? (uint64_t)DEFAULT_N >> shift : count >> shift;
    if (!wanted) wanted = 1;
    uint64_t number = is_free && !is_asked ? number_of_grid(user, *n) : 0;
    host_code_set_n(user->code, size);
    if (number) {
        user->has_number = true;
        user->guess->account.may_shrink = false;
        wanted = number;
    } else if (is_free && count != *n) {
        wanted = choose_free_size(user, *n);
    } else if (is_free) {
        wanted = count;
    } else if (wanted != count && !resize(user, largest, count, wanted)) {
        user->guess->account.may_shrink = false;
        wanted = is_asked ? *n : count;
    } else if (wanted != count) {
        user->is_reduced = user->guess->account.is_reduced = !is_asked;
    }
    if (wanted < (uint64_t)1 << 40) *n = wanted;
}

/* The value of an argument that is no pointer: the launch's, or the one that the kernel's definition gives it. */
static HostNumber value_of(UserLaunch *user, int index) {
    HostNumber nothing = {0};
    if (user->host && index < user->host->item_count)
        return host_code_evaluate(user->code, user->host, user->host->items[index]);
    return user->code
               ? host_code_default(user->code, user_bare_name(user), index, user->entry->parameter_count)
               : nothing;
}

static void read_number(UserLaunch *user, int index) {
    GuessHint *hint = &user->hints[index];
    bool is_given = user->host && index < user->host->item_count;
    HostNumber value = value_of(user, index);
    bool is_unsuited = is_given && value.is_free && ptx_type_is_float(user->entry->parameters[index]->type) &&
                       !host_code_decides_grid(user->code, user->host, user->host->items[index]);
    hint->has_value = value.is_known && !is_unsuited;
    hint->is_float = value.is_float;
    hint->is_free = value.is_free;
    hint->integer = value.integer;
    hint->number = value.number;
    user->reads_arguments &= hint->has_value && !value.is_free;
}

static void read_hints(UserLaunch *user) {
    size_t identities[USES_PARAMETERS] = {0};
    int given = user->host ? user->host->item_count : 0;
    user->reads_arguments = user->host && given <= user->entry->parameter_count;
    for (int i = 0; user->code && i < user->entry->parameter_count && i < USES_PARAMETERS; i++) {
        GuessHint *hint = &user->hints[i];
        bool is_free;
        if (!guess_element_bytes(user->entry, i)) {
            read_number(user, i);
            continue;
        }
        hint->is_null = i < given && user_is_null(user->host->items[i]);
        user->reads_arguments &= i < given;
        if (hint->is_null || i >= given) continue;
        hint->count = elements_of(user, i, &identities[i], &is_free);
        for (int k = 0; k < i && identities[i] && !hint->is_same; k++)
            if (identities[k] == identities[i]) {
                hint->is_same = true;
                hint->same_as = k;
            }
        user->reads_arguments &= hint->count || hint->is_same;
    }
}

/* ---- the plan --------------------------------------------------------------------------------------------------- */

static void print_size(const char *option, const uint32_t size[3], Text *out) {
    int count = size[2] != 1 ? 3 : size[1] != 1 ? 2 : 1;
    text_print(out, " --%s %u", option, size[0]);
    for (int i = 1; i < count; i++) text_print(out, ",%u", size[i]);
}

static void say_origins(UserLaunch *user, const PlanLaunch *launch, const char *args) {
    Guess *guess = user->guess;
    const GuessRequest *options = &guess->request;
    bool has_shared = user->shape.has_dynamic_shared && !options->has_shared && launch->dynamic_shared_bytes;
    GuessAccount *account = &guess->account;
    bool says_arguments = !options->args && user->entry->parameter_count;
    account->reads_arguments = says_arguments && user->reads_arguments;
    account->guesses_arguments = says_arguments && !user->reads_arguments;
    account->guesses_block = !options->block[0] && !user->entry->required_threads[0] && !user->reads_block;
    account->guesses_grid = !options->grid[0] && !user->reads_grid;
    if (says_arguments)
        text_print(user->reads_arguments ? &user->read : &user->guessed, " --args '%s'", args);
    if (!options->block[0] && !user->entry->required_threads[0])
        print_size("block", launch->block, user->reads_block ? &user->read : &user->guessed);
    if (!options->grid[0]) print_size("grid", launch->grid, user->reads_grid ? &user->read : &user->guessed);
    if (has_shared)
        text_print(user->reads_shared ? &user->read : &user->guessed, " --shared %u",
                   launch->dynamic_shared_bytes);
    bool is_unusual = user->chooses_n && account->n != DEFAULT_N;
    if (is_unusual)
        text_print(user->reads_arguments ? &user->read : &user->guessed, " --n %" PRIu64, account->n);
    if (user->guessed.length)
        guess->account.guessed =
            arena_copy_text(&guess->arena, user->guessed.data + 1, user->guessed.length - 1);
    if (!user->read.length) return;
    text_print(&user->read, " (line %d%s", user->host->line, user->is_reduced ? ", with a smaller n" : "");
    if (user->too_many_threads)
        text_print(&user->read, "; its blocks of %" PRIu64 " threads no GPU starts", user->too_many_threads);
    text_add(&user->read, ")");
    guess->account.read = arena_copy_text(&guess->arena, user->read.data + 1, user->read.length - 1);
}

static bool plan_arguments(UserLaunch *user, PlanLaunch *launch, Error *error) {
    Guess *guess = user->guess;
    const GuessRequest *options = &guess->request;
    uint64_t n = guess->account.n;
    Text args = {0};
    PlanVariables variables = {n, launch_volume(launch->block), launch_volume(launch->grid)};
    uint64_t grow[USES_PARAMETERS];
    for (int i = 0; i < USES_PARAMETERS; i++) grow[i] = guess->trial.grow[i] ? guess->trial.grow[i] : 1;
    GuessInput input = {.n = n,
                        .grid = variables.grid,
                        .side = user->side,
                        .fill = user_fill_text(guess),
                        .has_fill = options->has_fill,
                        .shared_bytes = launch->dynamic_shared_bytes,
                        .hints = user->hints,
                        .names = user_parameter_names(guess, user->code, user->entry),
                        .grow = grow};
    guess_arguments(user->entry, &input, &args);
    guess->account.arguments = arena_copy_text(&guess->arena, text_string(&args), args.length);
    if (options->args) guess->account.arguments = options->args;
    say_origins(user, launch, text_string(&args));
    text_done(&args);
    return plan_parse_arguments(guess->plan, launch, user->entry, guess->account.arguments, &variables,
                                error) &&
           (!options->expect || expect_read(options->expect, guess->plan, error));
}

/* Nothing of its launch was asked for, or guessed. */
static bool is_as_read(const UserLaunch *user) {
    const GuessRequest *options = &user->guess->request;
    bool is_asked = options->entry || options->args || options->grid[0] || options->block[0] ||
                    options->cluster[0] || options->has_shared || options->cooperative;
    return !is_asked && user->host && user->reads_arguments && user->reads_grid && user->reads_block;
}

static bool plan_launch(UserLaunch *user, Error *error) {
    Guess *guess = user->guess;
    bool by_block;
    user->entry = user_find_entry(user, error);
    if (!user->entry || !user_parse(guess, user->entry, error)) return false;
    user->shape = guess_shape(guess->request.module, user->entry);
    user->host = user_find_launch(user);
    PlanLaunch *launch = plan_add_launch(guess->plan, user->entry->name);
    launch->cooperative = guess->request.cooperative;
    memcpy(launch->cluster, guess->request.cluster, sizeof launch->cluster);
    if (!user_choose_block(user, launch->block, error)) return false;
    choose_n(user);
    read_hints(user);
    bool has_rows = user->shape.dimensions == 1 && guess_has_rows(user->entry, &by_block);
    guess->account.has_sides |= has_rows;
    int dimensions = has_rows && !guess->trial.no_sides ? 2 : user->shape.dimensions;
    user->side = guess_side(guess->account.n, dimensions + guess->trial.more_sides);
    guess->account.side = user->side;
    user->launch = launch;
    if (!user_apply_profile(user)) return error_set(error, "no such values of its numbers");
    user_choose_shared(user, launch);
    if (!user_choose_grid(user, launch, error) || !plan_arguments(user, launch, error)) return false;
    if (is_as_read(user)) user_plan_chain(guess, user->code, user->host, user->entry, user_entry_of_launch);
    return true;
}

bool user_plan(Guess *guess, Error *error) {
    const char *launches = guess->request.launches;
    if (launches) return user_plan_launches(guess, launches, error);
    UserLaunch user = {.guess = guess, .code = user_read_host_code(&guess->request)};
    bool good = plan_launch(&user, error);
    host_code_free(user.code);
    text_done(&user.guessed);
    text_done(&user.read);
    return good;
}
