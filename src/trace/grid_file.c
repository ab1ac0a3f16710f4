/* Writes and reads grid timelines (grid_file.h). */
#include "trace/grid_file.h"

#include "base/number.h"
#include "base/tsv.h"

#include <inttypes.h>
#include <stdlib.h>

enum {
    BLOCKS_A_LINE = 64,
    DIGITS = 6, /* significant digits of a number */
    GRID_FIELDS = 12,
    LAUNCH_FIELDS = 20
};
static const uint64_t MOST_NANOSECONDS = UINT64_C(1) << 48, MOST_BLOCKS = UINT64_C(1) << 24;
static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_";

/* ---- writing ------------------------------------------------------------------------------------------- */

static void add_blocks(const GridLaunch *launch, Text *out) {
    uint64_t unit = 0, before = 0;
    for (uint64_t i = 0; i < launch->block_count; i++) {
        unit = number_common_divisor(unit, launch->blocks[i].start);
        unit = number_common_divisor(unit, launch->blocks[i].end);
    }
    if (!unit) unit = 1;
    text_print(out, "blocks\t%" PRIu64, unit);
    for (uint64_t i = 0; i < launch->block_count; i++) {
        const GridBlock *block = &launch->blocks[i];
        text_print(out, "%s%" PRIu32 ",%" PRId64 ",%" PRIu64, i % BLOCKS_A_LINE ? " " : "\nb\t",
                   block->multiprocessor, ((int64_t)block->start - (int64_t)before) / (int64_t)unit,
                   (block->end - block->start) / unit);
        before = block->start;
    }
    text_add(out, "\n");
}

static void add_bins(const GridLaunch *launch, uint32_t multiprocessors, Text *out) {
    text_print(out, "bins\t%" PRIu64 "\t%" PRIu32 "\n", launch->bin_ns, launch->bins);
    for (uint32_t m = 0; m < multiprocessors; m++) {
        const uint8_t *levels = &launch->levels[(size_t)m * launch->bins];
        uint32_t used = 0;
        for (uint32_t bin = 0; bin < launch->bins; bin++) used += levels[bin] != 0;
        if (!used) continue;
        text_print(out, "m\t%" PRIu32 "\t", m);
        for (uint32_t bin = 0; bin < launch->bins; bin++) text_add_bytes(out, &digits[levels[bin]], 1);
        text_add(out, "\n");
    }
}

static void add_launch(const GridTimeline *timeline, const GridLaunch *launch, Text *out) {
    const GridFigures *figures = &launch->figures;
    text_add(out, "launch");
    tsv_add_word(out, launch->entry);
    for (int i = 0; i < 3; i++) text_print(out, "\t%" PRIu32, launch->grid[i]);
    for (int i = 0; i < 3; i++) text_print(out, "\t%" PRIu32, launch->block[i]);
    text_print(out,
               "\t%s\t%" PRIu32 "\t%" PRIu32 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu32 "\t%" PRIu32
               "\t%" PRIu64,
               launch->cooperative ? "cooperative" : "-", launch->capacity, launch->plain_capacity,
               launch->block_count, figures->start, figures->end, figures->used_multiprocessors,
               figures->most_resident, figures->tail);
    tsv_add_number(out, figures->idle, DIGITS);
    tsv_add_number(out, figures->mean_block, DIGITS);
    tsv_add_number(out, figures->longest_block, DIGITS);
    text_add(out, "\n");
    if (launch->blocks)
        add_blocks(launch, out);
    else
        add_bins(launch, timeline->multiprocessors, out);
}

void grid_file_write(const GridTimeline *timeline, Text *out) {
    text_add(out, "grid");
    timeline_run_write(&timeline->of, out);
    text_print(out, "\t%" PRIu32 "\t%" PRIu32, timeline->multiprocessors, timeline->granularity);
    tsv_add_number(out, timeline->overhead, DIGITS);
    text_print(out, "\t%d\n", timeline->launch_count);
    for (int i = 0; i < timeline->launch_count; i++) add_launch(timeline, &timeline->launches[i], out);
}

/* ---- reading ------------------------------------------------------------------------------------------- */

typedef struct GridReader {
    TsvReader tsv;
    GridFileTake *take;
    void *context;
    GridTimeline *timeline; /* the one being read; NULL: none yet */
    int launch;             /* its index in the timeline; -1: none yet */
    uint64_t unit, blocks;  /* unit of its times, 0: not read yet; number of blocks read */
    uint64_t before;        /* start of the last block, in units */
} GridReader;

static GridLaunch *launch_of(const GridReader *reader) {
    return reader->timeline && reader->launch >= 0 ? &reader->timeline->launches[reader->launch] : NULL;
}

/* Checks that the launch just read is complete. */
static bool end_launch(const GridReader *reader, Error *error) {
    GridLaunch *launch = launch_of(reader);
    if (!launch) return true;
    if (!launch->blocks && !launch->levels)
        return tsv_refuse(&reader->tsv, error, "the launch above has no blocks");
    if (!launch->blocks) return true;
    if (reader->blocks != launch->block_count)
        return tsv_refuse(&reader->tsv, error, "the launch above has %" PRIu64 " of its %" PRIu64 " blocks",
                          reader->blocks, launch->block_count);
    launch->figures = grid_figures(launch->blocks, launch->block_count, reader->timeline->multiprocessors);
    return true;
}

static bool end_timeline(const GridReader *reader, Error *error) {
    if (!reader->timeline) return true;
    if (!end_launch(reader, error)) return false;
    return reader->launch + 1 == reader->timeline->launch_count ||
           tsv_refuse(&reader->tsv, error, "the grid above has %d of its %d launches", reader->launch + 1,
                      reader->timeline->launch_count);
}

static bool take(GridReader *reader, Error *error) {
    if (!end_timeline(reader, error)) return false;
    if (reader->timeline) reader->take(reader->context, reader->timeline);
    reader->timeline = NULL;
    return true;
}

static bool read_grid(void *context, Error *error) {
    GridReader *reader = context;
    uint32_t launches, multiprocessors, granularity;
    double overhead;
    if (!take(reader, error) || !tsv_has_columns(&reader->tsv, GRID_FIELDS, error) ||
        !tsv_whole32(&reader->tsv, 8, 1, GRID_MOST_MULTIPROCESSORS, &multiprocessors, error) ||
        !tsv_whole32(&reader->tsv, 9, 0, UINT32_MAX, &granularity, error) ||
        !tsv_number_within(&reader->tsv, 10, -1, 1e6, &overhead, error) ||
        !tsv_whole32(&reader->tsv, 11, 1, GRID_MOST_LAUNCHES, &launches, error))
        return false;
    GridTimeline *timeline = reader->timeline = grid_timeline_new((int)launches);
    timeline->multiprocessors = multiprocessors;
    timeline->granularity = granularity;
    timeline->overhead = overhead;
    reader->launch = -1;
    return timeline_run_read(&reader->tsv, &timeline->arena, &timeline->of, error);
}

static bool read_figures(const GridReader *reader, GridFigures *figures, Error *error) {
    uint32_t most = reader->timeline->multiprocessors;
    return tsv_whole(&reader->tsv, 12, 0, MOST_NANOSECONDS, &figures->start, error) &&
           tsv_whole(&reader->tsv, 13, figures->start, MOST_NANOSECONDS, &figures->end, error) &&
           tsv_whole32(&reader->tsv, 14, 1, most, &figures->used_multiprocessors, error) &&
           tsv_whole32(&reader->tsv, 15, 0, 1024, &figures->most_resident, error) &&
           tsv_whole(&reader->tsv, 16, 0, figures->end - figures->start, &figures->tail, error) &&
           tsv_number_within(&reader->tsv, 17, 0, 1, &figures->idle, error) &&
           tsv_number_within(&reader->tsv, 18, 0, (double)MOST_NANOSECONDS, &figures->mean_block, error) &&
           tsv_number_within(&reader->tsv, 19, 0, (double)MOST_NANOSECONDS, &figures->longest_block, error);
}

static bool read_launch(void *context, Error *error) {
    GridReader *reader = context;
    if (!reader->timeline || reader->launch + 1 >= reader->timeline->launch_count)
        return tsv_refuse(&reader->tsv, error, "there is no grid above that this launch belongs to");
    if (!tsv_has_columns(&reader->tsv, LAUNCH_FIELDS, error) || !end_launch(reader, error)) return false;
    GridLaunch *launch = &reader->timeline->launches[++reader->launch];
    uint64_t volume = 1;
    for (int i = 0; i < 3; i++) {
        if (!tsv_whole32(&reader->tsv, 2 + i, 1, INT32_MAX, &launch->grid[i], error) ||
            !tsv_whole32(&reader->tsv, 5 + i, 1, 1024, &launch->block[i], error))
            return false;
        volume = volume > MOST_BLOCKS ? volume : volume * launch->grid[i];
    }
    launch->entry = arena_copy_string(&reader->timeline->arena, tsv_word(&reader->tsv, 1));
    launch->cooperative = !strcmp(reader->tsv.columns[8], "cooperative");
    reader->unit = reader->blocks = reader->before = 0;
    if (!tsv_whole32(&reader->tsv, 9, 0, 1024, &launch->capacity, error) ||
        !tsv_whole32(&reader->tsv, 10, 0, 1024, &launch->plain_capacity, error) ||
        !tsv_whole(&reader->tsv, 11, 1, MOST_BLOCKS, &launch->block_count, error) ||
        !read_figures(reader, &launch->figures, error))
        return false;
    return volume == launch->block_count ||
           tsv_refuse(&reader->tsv, error, "the grid's dimensions do not give %" PRIu64 " blocks",
                      launch->block_count);
}

static bool read_blocks(void *context, Error *error) {
    GridReader *reader = context;
    GridLaunch *launch = launch_of(reader);
    if (!launch || launch->blocks || launch->levels)
        return tsv_refuse(&reader->tsv, error, "there is no launch above that these blocks belong to");
    if (!tsv_has_columns(&reader->tsv, 2, error) ||
        !tsv_whole(&reader->tsv, 1, 1, MOST_NANOSECONDS, &reader->unit, error))
        return false;
    launch->blocks =
        arena_new(&reader->timeline->arena, (size_t)launch->block_count * sizeof *launch->blocks);
    return true;
}

/* Reads "17,3,45"; false: not a block. */
static bool take_block(GridReader *reader, char **at, GridBlock *block) {
    char *end;
    uint64_t most = MOST_NANOSECONDS / reader->unit;
    if (**at < '0' || **at > '9') return false;
    unsigned long multiprocessor = strtoul(*at, &end, 10);
    if (multiprocessor >= reader->timeline->multiprocessors || *end != ',') return false;
    int64_t by = strtoll(end + 1, &end, 10);
    int64_t start = by < -(int64_t)most || by > (int64_t)most ? -1 : (int64_t)reader->before + by;
    if (start < 0 || start > (int64_t)most || end[0] != ',' || end[1] < '0' || end[1] > '9') return false;
    uint64_t length = strtoull(end + 1, &end, 10);
    if (length > most || (*end && *end != ' ')) return false;
    reader->before = (uint64_t)start;
    block->multiprocessor = (uint32_t)multiprocessor;
    block->start = (uint64_t)start * reader->unit;
    block->end = block->start + length * reader->unit;
    *at = *end ? end + 1 : end;
    return true;
}

static bool read_block_line(void *context, Error *error) {
    GridReader *reader = context;
    GridLaunch *launch = launch_of(reader);
    if (!launch || !launch->blocks || !reader->unit)
        return tsv_refuse(&reader->tsv, error, "there are no blocks above that this line belongs to");
    if (!tsv_has_columns(&reader->tsv, 2, error)) return false;
    for (char *at = reader->tsv.columns[1]; *at;) {
        if (reader->blocks == launch->block_count)
            return tsv_refuse(&reader->tsv, error, "the launch has only %" PRIu64 " blocks",
                              launch->block_count);
        const char *text = at;
        if (!take_block(reader, &at, &launch->blocks[reader->blocks]))
            return tsv_refuse(&reader->tsv, error, "'%.24s' is not MULTIPROCESSOR,START,LENGTH of a block",
                              text);
        reader->blocks++;
    }
    return true;
}

static bool read_bins(void *context, Error *error) {
    GridReader *reader = context;
    GridLaunch *launch = launch_of(reader);
    if (!launch || launch->blocks || launch->levels)
        return tsv_refuse(&reader->tsv, error, "there is no launch above that these bins belong to");
    if (!tsv_has_columns(&reader->tsv, 3, error) ||
        !tsv_whole(&reader->tsv, 1, 1, MOST_NANOSECONDS, &launch->bin_ns, error) ||
        !tsv_whole32(&reader->tsv, 2, 1, 4 * GRID_BINS, &launch->bins, error))
        return false;
    launch->levels =
        arena_new(&reader->timeline->arena, (size_t)reader->timeline->multiprocessors * launch->bins);
    return true;
}

static bool read_levels(void *context, Error *error) {
    GridReader *reader = context;
    GridLaunch *launch = launch_of(reader);
    uint32_t multiprocessor;
    if (!launch || !launch->levels)
        return tsv_refuse(&reader->tsv, error, "there are no bins above that this line belongs to");
    if (!tsv_has_columns(&reader->tsv, 3, error) ||
        !tsv_whole32(&reader->tsv, 1, 0, reader->timeline->multiprocessors - 1, &multiprocessor, error))
        return false;
    if (strlen(reader->tsv.columns[2]) != launch->bins)
        return tsv_refuse(&reader->tsv, error, "a multiprocessor has %" PRIu32 " bins", launch->bins);
    for (uint32_t bin = 0; bin < launch->bins; bin++) {
        const char *digit = strchr(digits, reader->tsv.columns[2][bin]);
        if (!digit) return tsv_refuse(&reader->tsv, error, "'%c' is no level", reader->tsv.columns[2][bin]);
        launch->levels[multiprocessor * launch->bins + bin] = (uint8_t)(digit - digits);
    }
    return true;
}

static bool read_timelines(GridReader *reader, GridFileTake *take_timeline, void *context, Error *error) {
    static const TsvKind kinds[] = {{"grid", read_grid},    {"launch", read_launch}, {"blocks", read_blocks},
                                    {"b", read_block_line}, {"bins", read_bins},     {"m", read_levels}};
    reader->take = take_timeline;
    reader->context = context;
    bool good = tsv_read_kinds(&reader->tsv, kinds, sizeof kinds / sizeof *kinds, reader, error) &&
                take(reader, error);
    if (!good) grid_timeline_free(reader->timeline);
    tsv_close(&reader->tsv);
    return good;
}

bool grid_file_read(const char *path, GridFileTake *take_timeline, void *context, Error *error) {
    GridReader reader = {.launch = -1};
    return tsv_open(&reader.tsv, path, error) && read_timelines(&reader, take_timeline, context, error);
}

bool grid_file_read_text(const char *text, const char *path, GridFileTake *take_timeline, void *context,
                         Error *error) {
    GridReader reader = {.launch = -1};
    tsv_open_text(&reader.tsv, text, path);
    return read_timelines(&reader, take_timeline, context, error);
}
