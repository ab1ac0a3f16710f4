/* Writing and reading of grid timelines (grid_file.h). */
#include "trace/grid_file.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    FILE_LIMIT_BYTES = 64 << 20,
    BLOCKS_A_LINE = 64,
    GRID_FIELDS = 12,
    LAUNCH_FIELDS = 20,
    MOST_FIELDS = 20
};
static const uint64_t MOST_NANOSECONDS = UINT64_C(1) << 48, MOST_BLOCKS = UINT64_C(1) << 24;
static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_";

/* ---- writing ------------------------------------------------------------------------------------------- */

static void add_word(Text *out, const char *word) {
    text_add(out, "\t");
    if (!word || !*word) word = "-";
    for (const char *at = word; *at; at++) text_add_bytes(out, *at == '\t' || *at == '\n' ? " " : at, 1);
}

static void add_number(Text *out, double number) {
    if (isnan(number))
        text_add(out, "\t-");
    else
        text_print(out, "\t%.6g", number);
}

static uint64_t divisor(uint64_t a, uint64_t b) {
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static void add_blocks(const GridLaunch *launch, Text *out) {
    uint64_t unit = 0, before = 0;
    for (uint64_t i = 0; i < launch->block_count; i++)
        unit = divisor(divisor(unit, launch->blocks[i].start), launch->blocks[i].end);
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
    add_word(out, launch->entry);
    for (int i = 0; i < 3; i++) text_print(out, "\t%" PRIu32, launch->grid[i]);
    for (int i = 0; i < 3; i++) text_print(out, "\t%" PRIu32, launch->block[i]);
    text_print(out,
               "\t%s\t%" PRIu32 "\t%" PRIu32 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu32 "\t%" PRIu32
               "\t%" PRIu64,
               launch->cooperative ? "cooperative" : "-", launch->capacity, launch->plain_capacity,
               launch->block_count, figures->start, figures->end, figures->used_multiprocessors,
               figures->most_resident, figures->tail);
    add_number(out, figures->idle);
    add_number(out, figures->mean_block);
    add_number(out, figures->longest_block);
    text_add(out, "\n");
    if (launch->blocks)
        add_blocks(launch, out);
    else
        add_bins(launch, timeline->multiprocessors, out);
}

void grid_file_write(const GridTimeline *timeline, Text *out) {
    text_add(out, "grid");
    add_word(out, timeline->kernel);
    text_print(out, "\t%" PRIu64, timeline->n);
    add_word(out, timeline->dtype);
    add_word(out, timeline->op);
    add_word(out, timeline->machine);
    add_word(out, timeline->driver);
    add_word(out, timeline->measured);
    text_print(out, "\t%" PRIu32 "\t%" PRIu32, timeline->multiprocessors, timeline->granularity);
    add_number(out, timeline->overhead);
    text_print(out, "\t%d\n", timeline->launch_count);
    for (int i = 0; i < timeline->launch_count; i++) add_launch(timeline, &timeline->launches[i], out);
}

/* ---- reading ------------------------------------------------------------------------------------------- */

typedef struct GridReader {
    const char *path;
    int line;
    GridTimeline *timeline; /* the one that is being read; NULL: none yet */
    int launch;             /* of it, from 0; -1: none yet */
    uint64_t unit, blocks;  /* of the launch: 0: none; how many were read */
    uint64_t before;        /* start of the last one, in units */
    char *fields[MOST_FIELDS];
    int field_count;
} GridReader;

__attribute__((format(printf, 3, 4))) static bool refuse(const GridReader *reader, Error *error,
                                                         const char *format, ...) {
    char why[160];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, sizeof why, format, arguments);
    va_end(arguments);
    return error_set_at(error, reader->path, reader->line, 0, "%s", why);
}

static void split(GridReader *reader, char *line) {
    reader->field_count = 0;
    for (char *next = line; next && reader->field_count < MOST_FIELDS; reader->field_count++) {
        reader->fields[reader->field_count] = next;
        next = strchr(next, '\t');
        if (next) *next++ = 0;
    }
}

static const char *word(const char *field) {
    return strcmp(field, "-") ? field : "";
}

/* A whole number from `least` to `most`. */
static bool whole(const GridReader *reader, int field, uint64_t least, uint64_t most, uint64_t *out,
                  Error *error) {
    const char *text = reader->fields[field];
    char *end;
    *out = strtoull(text, &end, 10);
    if (*text >= '0' && *text <= '9' && !*end && *out >= least && *out <= most) return true;
    return refuse(reader, error, "column %d is '%.24s', not a whole number from %" PRIu64 " to %" PRIu64,
                  field + 1, text, least, most);
}

static bool whole32(const GridReader *reader, int field, uint32_t least, uint32_t most, uint32_t *out,
                    Error *error) {
    uint64_t number;
    if (!whole(reader, field, least, most, &number, error)) return false;
    *out = (uint32_t)number;
    return true;
}

static bool real(const GridReader *reader, int field, double least, double most, double *out, Error *error) {
    const char *text = reader->fields[field];
    char *end;
    *out = NAN;
    if (!strcmp(text, "-")) return true;
    *out = strtod(text, &end);
    if (end > text && !*end && *out >= least && *out <= most) return true;
    return refuse(reader, error, "column %d is '%.24s', not a number from %g to %g", field + 1, text, least,
                  most);
}

static GridLaunch *launch_of(const GridReader *reader) {
    return reader->timeline && reader->launch >= 0 ? &reader->timeline->launches[reader->launch] : NULL;
}

/* The launch that was being read has what it says. */
static bool end_launch(const GridReader *reader, Error *error) {
    GridLaunch *launch = launch_of(reader);
    if (!launch) return true;
    if (!launch->blocks && !launch->levels) return refuse(reader, error, "the launch above has no blocks");
    if (!launch->blocks) return true;
    if (reader->blocks != launch->block_count)
        return refuse(reader, error, "the launch above has %" PRIu64 " of its %" PRIu64 " blocks",
                      reader->blocks, launch->block_count);
    launch->figures = grid_figures(launch->blocks, launch->block_count, reader->timeline->multiprocessors);
    return true;
}

static bool end_timeline(const GridReader *reader, Error *error) {
    if (!reader->timeline) return true;
    if (!end_launch(reader, error)) return false;
    return reader->launch + 1 == reader->timeline->launch_count ||
           refuse(reader, error, "the grid above has %d of its %d launches", reader->launch + 1,
                  reader->timeline->launch_count);
}

static bool read_grid(GridReader *reader, Error *error) {
    uint32_t launches, multiprocessors, granularity;
    uint64_t n;
    double overhead;
    if (reader->field_count != GRID_FIELDS)
        return refuse(reader, error, "a grid has %d columns", GRID_FIELDS);
    if (!whole(reader, 2, 0, UINT64_MAX, &n, error) ||
        !whole32(reader, 8, 1, GRID_MOST_MULTIPROCESSORS, &multiprocessors, error) ||
        !whole32(reader, 9, 0, UINT32_MAX, &granularity, error) ||
        !real(reader, 10, -1, 1e6, &overhead, error) ||
        !whole32(reader, 11, 1, GRID_MOST_LAUNCHES, &launches, error))
        return false;
    GridTimeline *timeline = reader->timeline = grid_timeline_new((int)launches);
    Arena *arena = &timeline->arena;
    timeline->kernel = arena_copy_string(arena, word(reader->fields[1]));
    timeline->n = n;
    timeline->dtype = arena_copy_string(arena, word(reader->fields[3]));
    timeline->op = arena_copy_string(arena, word(reader->fields[4]));
    timeline->machine = arena_copy_string(arena, word(reader->fields[5]));
    timeline->driver = arena_copy_string(arena, word(reader->fields[6]));
    timeline->measured = arena_copy_string(arena, word(reader->fields[7]));
    timeline->multiprocessors = multiprocessors;
    timeline->granularity = granularity;
    timeline->overhead = overhead;
    reader->launch = -1;
    return true;
}

static bool read_figures(const GridReader *reader, GridFigures *figures, Error *error) {
    uint32_t most = reader->timeline->multiprocessors;
    return whole(reader, 12, 0, MOST_NANOSECONDS, &figures->start, error) &&
           whole(reader, 13, figures->start, MOST_NANOSECONDS, &figures->end, error) &&
           whole32(reader, 14, 1, most, &figures->used_multiprocessors, error) &&
           whole32(reader, 15, 0, 1024, &figures->most_resident, error) &&
           whole(reader, 16, 0, figures->end - figures->start, &figures->tail, error) &&
           real(reader, 17, 0, 1, &figures->idle, error) &&
           real(reader, 18, 0, (double)MOST_NANOSECONDS, &figures->mean_block, error) &&
           real(reader, 19, 0, (double)MOST_NANOSECONDS, &figures->longest_block, error);
}

static bool read_launch(GridReader *reader, Error *error) {
    if (!reader->timeline || reader->launch + 1 >= reader->timeline->launch_count)
        return refuse(reader, error, "there is no grid above that this launch belongs to");
    if (reader->field_count != LAUNCH_FIELDS)
        return refuse(reader, error, "a launch has %d columns", LAUNCH_FIELDS);
    if (!end_launch(reader, error)) return false;
    GridLaunch *launch = &reader->timeline->launches[++reader->launch];
    uint64_t volume = 1;
    for (int i = 0; i < 3; i++) {
        if (!whole32(reader, 2 + i, 1, INT32_MAX, &launch->grid[i], error) ||
            !whole32(reader, 5 + i, 1, 1024, &launch->block[i], error))
            return false;
        volume = volume > MOST_BLOCKS ? volume : volume * launch->grid[i];
    }
    launch->entry = arena_copy_string(&reader->timeline->arena, word(reader->fields[1]));
    launch->cooperative = !strcmp(reader->fields[8], "cooperative");
    reader->unit = reader->blocks = reader->before = 0;
    if (!whole32(reader, 9, 0, 1024, &launch->capacity, error) ||
        !whole32(reader, 10, 0, 1024, &launch->plain_capacity, error) ||
        !whole(reader, 11, 1, MOST_BLOCKS, &launch->block_count, error) ||
        !read_figures(reader, &launch->figures, error))
        return false;
    return volume == launch->block_count ||
           refuse(reader, error, "the grid's dimensions do not give %" PRIu64 " blocks", launch->block_count);
}

static bool read_blocks(GridReader *reader, Error *error) {
    GridLaunch *launch = launch_of(reader);
    if (!launch || launch->blocks || launch->levels)
        return refuse(reader, error, "there is no launch above that these blocks belong to");
    if (reader->field_count != 2) return refuse(reader, error, "blocks have 2 columns");
    if (!whole(reader, 1, 1, MOST_NANOSECONDS, &reader->unit, error)) return false;
    launch->blocks =
        arena_new(&reader->timeline->arena, (size_t)launch->block_count * sizeof *launch->blocks);
    return true;
}

/* "17,3,45": false where that is no such block. */
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

static bool read_block_line(GridReader *reader, Error *error) {
    GridLaunch *launch = launch_of(reader);
    if (!launch || !launch->blocks || !reader->unit || reader->field_count != 2)
        return refuse(reader, error, "there are no blocks above that this line belongs to");
    for (char *at = reader->fields[1]; *at;) {
        if (reader->blocks == launch->block_count)
            return refuse(reader, error, "the launch has only %" PRIu64 " blocks", launch->block_count);
        const char *text = at;
        if (!take_block(reader, &at, &launch->blocks[reader->blocks]))
            return refuse(reader, error, "'%.24s' is not MULTIPROCESSOR,START,LENGTH of a block", text);
        reader->blocks++;
    }
    return true;
}

static bool read_bins(GridReader *reader, Error *error) {
    GridLaunch *launch = launch_of(reader);
    if (!launch || launch->blocks || launch->levels)
        return refuse(reader, error, "there is no launch above that these bins belong to");
    if (reader->field_count != 3) return refuse(reader, error, "bins have 3 columns");
    if (!whole(reader, 1, 1, MOST_NANOSECONDS, &launch->bin_ns, error) ||
        !whole32(reader, 2, 1, 4 * GRID_BINS, &launch->bins, error))
        return false;
    launch->levels =
        arena_new(&reader->timeline->arena, (size_t)reader->timeline->multiprocessors * launch->bins);
    return true;
}

static bool read_levels(GridReader *reader, Error *error) {
    GridLaunch *launch = launch_of(reader);
    uint32_t multiprocessor;
    if (!launch || !launch->levels || reader->field_count != 3)
        return refuse(reader, error, "there are no bins above that this line belongs to");
    if (!whole32(reader, 1, 0, reader->timeline->multiprocessors - 1, &multiprocessor, error)) return false;
    if (strlen(reader->fields[2]) != launch->bins)
        return refuse(reader, error, "a multiprocessor has %" PRIu32 " bins", launch->bins);
    for (uint32_t bin = 0; bin < launch->bins; bin++) {
        const char *digit = strchr(digits, reader->fields[2][bin]);
        if (!digit) return refuse(reader, error, "'%c' is no level", reader->fields[2][bin]);
        launch->levels[multiprocessor * launch->bins + bin] = (uint8_t)(digit - digits);
    }
    return true;
}

static bool read_line(GridReader *reader, char *line, Error *error) {
    static const struct {
        const char *name;
        bool (*read)(GridReader *reader, Error *error);
    } kinds[] = {{"launch", read_launch},
                 {"blocks", read_blocks},
                 {"b", read_block_line},
                 {"bins", read_bins},
                 {"m", read_levels}};
    split(reader, line);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!strcmp(reader->fields[0], kinds[i].name)) return kinds[i].read(reader, error);
    return refuse(reader, error, "'%.24s' is no kind of line", reader->fields[0]);
}

bool grid_file_read(const char *path, void (*take)(void *context, GridTimeline *timeline), void *context,
                    Error *error) {
    GridReader reader = {.path = path, .launch = -1};
    char *text;
    size_t length;
    if (!text_read_file(path, FILE_LIMIT_BYTES, &text, &length, error)) return false;
    bool good = true;
    for (char *line = text, *next; good && line; line = next) {
        next = strchr(line, '\n');
        if (next) *next++ = 0;
        if (next && !*next) next = NULL;
        reader.line++;
        if (!*line || *line == '#') continue;
        if (strncmp(line, "grid\t", 5) != 0) {
            good = read_line(&reader, line, error);
            continue;
        }
        good = end_timeline(&reader, error);
        if (good && reader.timeline) take(context, reader.timeline);
        if (good) reader.timeline = NULL;
        split(&reader, line);
        good = good && read_grid(&reader, error);
    }
    good = good && end_timeline(&reader, error);
    if (good && reader.timeline) take(context, reader.timeline);
    if (!good) grid_timeline_free(reader.timeline);
    free(text);
    return good;
}
