/* Block, grid and shared memory of a kernel that is in no catalogue: as asked, as its file says, else as is usual. */
#include "guess/user_launch.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum {
    USER_WARPS = 1 << 25, /* of a launch: a thread each for 2^30 elements */
    USER_BLOCKS = 8       /* sizes of a block that are tried */
};

const char *user_bare_name(UserLaunch *user) {
    const char *readable = ptx_readable_name(user->guess->request.module, user->entry->name);
    size_t bare = strcspn(readable, "<("), begin = bare;
    while (begin > 0 && readable[begin - 1] != ':') begin--;
    return arena_copy_text(&user->guess->arena, readable + begin, bare - begin);
}

/* reduce<int, 512>: the only argument that can be a number of threads; 0: there is none, or several. */
static uint64_t template_block(UserLaunch *user) {
    const char *readable = ptx_readable_name(user->guess->request.module, user->entry->name),
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

static bool may_be_block(uint64_t threads) {
    return threads >= 16 && threads <= 1024 && !(threads & (threads - 1));
}

static void add_choice(uint64_t *choices, int *count, uint64_t threads) {
    for (int i = 0; i < *count; i++)
        if (choices[i] == threads) return;
    if (may_be_block(threads) && *count < USER_BLOCKS) choices[(*count)++] = threads;
}

/* Sizes that a block may have where the file launches none, the likeliest first: what the kernel's name or its bounds say,
 * constants that are named so, 256; then those that fit its shared arrays; a warp. */
static int list_blocks(UserLaunch *user, uint64_t choices[USER_BLOCKS]) {
    uint64_t bound = user->code ? host_code_launch_bound(user->code, user_bare_name(user)) : 0,
             named = template_block(user), constants[USER_BLOCKS];
    int count = 0, found = user->code ? host_code_block_sizes(user->code, constants, USER_BLOCKS) : 0;
    if (named || bound) choices[count++] = named ? named : bound;
    if (found == 1) add_choice(choices, &count, constants[0]);
    add_choice(choices, &count, USER_BLOCK);
    for (int i = 0; i < found; i++) add_choice(choices, &count, constants[i]);
    for (int i = 0; i < user->entry->statement_count; i++) {
        const PtxVariable *variable = user->entry->statements[i].variable;
        uint64_t bytes = variable && variable->space == PTX_SPACE_SHARED ? variable->bytes : 0;
        for (uint64_t each = 2; each <= 16; each *= 2) add_choice(choices, &count, bytes / each);
    }
    add_choice(choices, &count, 32);
    return count;
}

/* Threads: as asked, as the PTX wants them, as the file says, else 256 in as many dimensions as the kernel looks at. */
bool user_choose_block(UserLaunch *user, uint32_t block[3], Error *error) {
    static const uint32_t usual[][3] = {{USER_BLOCK, 1, 1}, {16, 16, 1}, {8, 8, 4}};
    const GuessRequest *options = &user->guess->request;
    const PtxFunction *entry = user->entry;
    const uint32_t *required = entry->required_threads;
    uint64_t most = launch_volume(entry->maximum_threads);
    uint32_t read[3] = {0};
    bool is_free = !options->block[0] && !required[0];
    user->reads_block = is_free && user->host &&
                        host_code_evaluate_size(user->code, user->host, user->host->block, read) &&
                        host_code_knows_size(user->code, user->host, user->host->block);
    if (user->reads_block && launch_volume(read) > 1024) {
        user->reads_block = false;
        user->too_many_threads = launch_volume(read);
    }
    uint32_t usual_block[3];
    memcpy(usual_block, usual[user->shape.block_dimensions - 1], sizeof usual_block);
    uint64_t choices[USER_BLOCKS];
    if (user->shape.block_dimensions == 1 && is_free && !user->reads_block) {
        int count = list_blocks(user, choices), trial = user->guess->trial.block;
        usual_block[0] = (uint32_t)choices[trial < count ? trial : 0];
        user->guess->account.block_choices = count;
    }
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
    if (is_free && !user->reads_block && user->host && user->shape.block_dimensions == 1)
        host_code_set_block(user->code, user->host, block[0]);
    return true;
}

/* out[blockIdx.x], of a buffer whose size the file says: a block for each element, unless it is as large as the input. 0: there
 * is none. */
static uint64_t blocks_of_output(const UserLaunch *user) {
    Use uses[USES_PARAMETERS];
    uses_find(user->entry, uses);
    for (int i = 0; i < user->entry->parameter_count && i < USES_PARAMETERS; i++)
        if (uses[i].count == USE_GRID && uses[i].is_written && user->hints[i].count &&
            user->hints[i].count < user->guess->account.n)
            return user->hints[i].count;
    return 0;
}

/* One thread an element, one block a row, or one block where the kernel does not look at its number. */
static uint64_t usual_blocks(const UserLaunch *user, int axis, const uint32_t block[3]) {
    bool by_block;
    bool has_rows = guess_has_rows(user->entry, &by_block) && user->shape.dimensions == 1;
    if (user->has_one_block) return 1;
    uint64_t by_output = axis == 0 && user->shape.dimensions == 1 ? blocks_of_output(user) : 0;
    if (!user->shape.counts_blocks || axis >= user->shape.dimensions) return 1;
    if (by_output) return by_output;
    if (has_rows && by_block) return user->side;
    uint64_t threads = block[axis], reach = threads;
    if (has_rows && guess_row_threads(user->entry) > 1) /* a warp a row */
        return (user->side * (uint64_t)guess_row_threads(user->entry) + threads - 1) / threads;
    if (user->shape.dimensions == 1) reach = uses_block_reach(user->entry, threads);
    return (user->side + reach - 1) / reach;
}

bool user_reads_grid(UserLaunch *user, uint32_t read[3]) {
    return !user->guess->request.grid[0] && user->host &&
           host_code_evaluate_size(user->code, user->host, user->host->grid, read) &&
           host_code_knows_size(user->code, user->host, user->host->grid);
}

/* Blocks: as asked, as the file says, else as is usual. */
bool user_choose_grid(UserLaunch *user, PlanLaunch *launch, Error *error) {
    static const uint32_t limits[3] = {INT_MAX, 65535, 65535};
    const GuessRequest *options = &user->guess->request;
    uint32_t read[3] = {0};
    user->reads_grid = user_reads_grid(user, read);
    for (int i = 0; i < 3; i++) {
        uint64_t blocks = user->reads_grid ? read[i] : usual_blocks(user, i, launch->block);
        if (!i && !user->reads_grid)
            blocks =
                (blocks + ((uint64_t)1 << user->guess->trial.halvings) - 1) >> user->guess->trial.halvings;
        uint64_t cluster = launch->cluster[0] ? launch->cluster[i] : user->entry->required_cluster[i];
        if (cluster && !user->reads_grid) blocks = (blocks + cluster - 1) / cluster * cluster;
        if (options->grid[0]) blocks = options->grid[i] ? options->grid[i] : 1;
        if (blocks > limits[i])
            return error_set(error, "--grid: %" PRIu64 " blocks are too many; give --grid or a smaller --n",
                             blocks);
        launch->grid[i] = (uint32_t)blocks;
    }
    uint64_t warps = (launch_volume(launch->block) + 31) / 32;
    if (options->has_budget || launch_volume(launch->grid) <= USER_WARPS / warps) return true;
    return error_set(
        error,
        "--grid: %" PRIu64 " blocks of %" PRIu64 " threads would take very long to emulate; use a "
        "smaller --grid or --n, or --max-instructions N to run up to N warp instructions of them",
        launch_volume(launch->grid), launch_volume(launch->block));
}

void user_choose_shared(UserLaunch *user, PlanLaunch *launch) {
    enum { USUAL_SHARED = 48 << 10 };
    const GuessRequest *options = &user->guess->request;
    launch->dynamic_shared_bytes = options->shared_bytes;
    if (!user->shape.has_dynamic_shared || options->has_shared) return;
    HostNumber read = {0};
    if (user->host && user->host->shared)
        read = host_code_evaluate(user->code, user->host, user->host->shared);
    bool is_other = read.is_free && !host_code_knows_size(user->code, user->host, user->host->shared);
    user->reads_shared = read.is_known && !is_other && read.number >= 1 && read.number <= 227 << 10;
    if (user->reads_shared) {
        launch->dynamic_shared_bytes = (uint32_t)read.number;
    } else if (user->shape.static_shared < USUAL_SHARED) {
        launch->dynamic_shared_bytes = USUAL_SHARED - (uint32_t)user->shape.static_shared;
        guess_shared_beside(options->file, &launch->dynamic_shared_bytes);
    }
}
