/* Options of a run by their names: as the command line, --compare and the claims of lectures give them. */
#include "session/session.h"

#include "base/number.h"
#include "base/text.h"
#include "runtime/user_program.h"
#include <assert.h>
#include <limits.h>
#include <string.h>

static bool set_n(RunSpec *options, const char *value, Error *error) {
    return number_parse_option("n", value, 1, (uint64_t)1 << 40, &options->catalog.n, error);
}

/* X[,Y[,Z]] within CUDA's limits; missing dimensions are 1. */
static bool read_dimensions(const char *name, const char *value, const uint32_t limit[3], uint32_t out[3],
                            Error *error) {
    const char *cursor = value;
    int i = 0;
    for (; i < 3; i++) {
        uint64_t size;
        if (!number_read(&cursor, &size) || size < 1 || size > limit[i]) break;
        out[i] = (uint32_t)size;
        if (*cursor != ',') {
            i++;
            break;
        }
        cursor++;
    }
    if (*cursor || i == 0 || cursor[-1] == ',')
        return error_set(error, "--%s: '%s' is not X[,Y[,Z]] with X up to %u, Y up to %u, Z up to %u", name,
                         value, limit[0], limit[1], limit[2]);
    for (; i < 3; i++) out[i] = 1;
    return true;
}

static bool set_block(RunSpec *options, const char *value, Error *error) {
    enum { MOST_THREADS = 1024 };
    static const uint32_t limit[3] = {1024, 1024, 64};
    uint32_t *block = options->block;
    if (!read_dimensions("block", value, limit, block, error)) return false;
    uint32_t threads = block[0] * block[1] * block[2];
    if (threads > MOST_THREADS)
        return error_set(error, "--block: %s is %u threads; a block has at most %d", value, threads,
                         MOST_THREADS);
    options->catalog.block = threads;
    return true;
}

static bool set_cluster(RunSpec *options, const char *value, Error *error) {
    static const uint32_t limit[3] = {LAUNCH_CLUSTER_BLOCKS, LAUNCH_CLUSTER_BLOCKS, LAUNCH_CLUSTER_BLOCKS};
    uint32_t *cluster = options->cluster;
    if (!read_dimensions("cluster", value, limit, cluster, error)) return false;
    uint32_t blocks = cluster[0] * cluster[1] * cluster[2];
    if (blocks > LAUNCH_CLUSTER_BLOCKS)
        return error_set(error, "--cluster: %s is %u blocks; a cluster has at most %d", value, blocks,
                         LAUNCH_CLUSTER_BLOCKS);
    options->catalog.cluster = blocks;
    return true;
}

static bool set_grid(RunSpec *options, const char *value, Error *error) {
    static const uint32_t limit[3] = {INT_MAX, 65535, 65535};
    if (!read_dimensions("grid", value, limit, options->grid, error)) return false;
    options->catalog.grid = options->grid[0];
    return true;
}

static bool set_launch(RunSpec *options, const char *value, Error *error) {
    int launch = options->program ? captured_find(options->program->capture, value) : -1;
    if (!options->program) return error_set(error, "at=%s: this run is of no program; --run FILE.cu", value);
    if (launch < 0)
        return error_set(error,
                         "--at %s: the program has launches 1 to %d; 'NAME#2' is the second of a kernel",
                         value, options->program->capture->launch_count);
    options->launch = launch;
    return true;
}

static bool set_dtype(RunSpec *options, const char *value, Error *error) {
    return plan_type_parse(value, &options->catalog.dtype) ||
           error_set(error,
                     "--dtype: there is no type '%s'; types are char, uchar, short, ushort, int, uint, long, "
                     "ulong, half, bfloat, float, double",
                     value);
}

static bool set_op(RunSpec *options, const char *value, Error *error) {
    const char *op = catalog_operation(value);
    if (!op) return error_set(error, "--op: '%s' is not one of sum, min, max, argmax", value);
    options->catalog.op = op;
    return true;
}

static bool set_param(RunSpec *options, const char *value, Error *error) {
    CatalogOptions *catalog = &options->catalog;
    const char *equals = strchr(value, '=');
    if (!equals || equals == value || !equals[1])
        return error_set(error, "--param: '%s' is not NAME=VALUE, like stride=4", value);
    if (catalog->parameter_count == CATALOG_PARAMETERS)
        return error_set(error, "--param: no kernel has more than %d parameters", CATALOG_PARAMETERS);
    catalog->parameters[catalog->parameter_count++] = value;
    return true;
}

static bool set_fill(RunSpec *options, const char *value, Error *error) {
    CatalogOptions *catalog = &options->catalog;
    FillKind fill;
    const char *path;
    if (!plan_fill_parse(value, strlen(value), &fill, &path) || (!path && fill >= FILL_FILE))
        return error_set(error, "--fill: '%s' is not one of zero, ones, iota, random, digits, file:PATH",
                         value);
    catalog->has_fill = true;
    catalog->fill = fill;
    catalog->fill_path = path;
    return true;
}

static bool set_seed(RunSpec *options, const char *value, Error *error) {
    return number_parse_option("seed", value, 0, UINT64_MAX, &options->catalog.seed, error);
}

static bool set_source(RunSpec *options, const char *value, Error *error) {
    options->source = value;
    return text_ends_with(value, ".cu") ||
           error_set(error, "--source: '%s' is no .cu file, a changed copy of the kernel's source", value);
}

static bool set_entry(RunSpec *options, const char *value, Error *error) {
    (void)error;
    options->entry = value;
    return true;
}

static bool set_trace_blocks(RunSpec *options, const char *value, Error *error) {
    const char *cursor = value;
    uint64_t first, last;
    bool ok = number_read(&cursor, &first);
    last = first;
    if (ok && *cursor == '-') cursor++, ok = number_read(&cursor, &last);
    if (!ok || *cursor || first > last || last > UINT32_MAX)
        return error_set(
            error, "--trace-blocks: '%s' is not FIRST or FIRST-LAST, like 0-3 (blocks are counted from 0)",
            value);
    options->has_trace_blocks = true;
    options->trace_first = (uint32_t)first;
    options->trace_last = (uint32_t)last;
    return true;
}

static bool set_schedule(RunSpec *options, const char *value, Error *error) {
    return number_parse_option("schedule", value, 0, UINT64_MAX, &options->schedule, error);
}

static const struct {
    const char *name;
    bool (*set)(RunSpec *options, const char *value, Error *error);
} settings[] = {
    {"n", set_n},           {"block", set_block},
    {"grid", set_grid},     {"cluster", set_cluster},
    {"dtype", set_dtype},   {"op", set_op},
    {"fill", set_fill},     {"seed", set_seed},
    {"entry", set_entry},   {"trace-blocks", set_trace_blocks},
    {"param", set_param},   {"schedule", set_schedule},
    {"source", set_source}, {"at", set_launch},
};

static int find_setting(const char *name, size_t length) {
    int last = (int)(sizeof settings / sizeof *settings) - 1;
    while (last >= 0 &&
           (strlen(settings[last].name) != length || memcmp(settings[last].name, name, length) != 0))
        last--;
    return last;
}

bool run_spec_set(RunSpec *options, const char *name, const char *value, Error *error) {
    int found = find_setting(name, strlen(name));
    assert(found >= 0);
    return settings[found].set(options, value, error);
}

bool run_spec_set_item(RunSpec *options, const char *item, Error *error) {
    size_t length = strcspn(item, "=");
    int found = item[length] ? find_setting(item, length) : -1;
    return found < 0 ? set_param(options, item, error)
                     : settings[found].set(options, item + length + 1, error);
}
