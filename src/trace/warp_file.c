#include "trace/warp_file.h"

#include "base/tsv.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    WAITS_A_LINE = 64,
    DIGITS = 6,
    WARPS_FIELDS = 20,
    LAUNCH_FIELDS = 8,
    SITE_FIELDS = 6,
    WARP_FIELDS = 8
};

/* ---- writing ------------------------------------------------------------------------------------------- */

static void add_line(const WarpLine *line, Text *out) {
    uint32_t before = line->begin;
    text_print(out, "warp\t%d\t%" PRIu64 "\t%" PRIu32 "\t%" PRIu32 "\t%" PRIu32 "\t%" PRIu32 "\t%d",
               line->launch, line->block, line->warp, line->slot, line->begin, line->end, line->wait_count);
    for (int i = 0; i < line->wait_count; i++) {
        const WarpWait *wait = &line->waits[i];
        text_print(out, "%s%u,%" PRIu32 ",%" PRIu32, i % WAITS_A_LINE ? " " : "\nw\t", wait->site,
                   wait->begin - before, wait->end - wait->begin);
        if (wait->lane) text_print(out, ",%u", wait->lane);
        before = wait->begin;
    }
    text_add(out, "\n");
}

static void add_optional(int number, bool is_known, Text *out) {
    if (is_known)
        text_print(out, "\t%d", number);
    else
        text_add(out, "\t-");
}

void warp_file_write(const WarpTimeline *timeline, Text *out) {
    text_add(out, "warps");
    timeline_run_write(&timeline->of, out);
    text_print(out, "\t%" PRIu32 "\t%" PRIu32 "\t%s\t%" PRIu64, timeline->multiprocessor, timeline->resident,
               timeline->is_order_only ? "order" : "lengths", timeline->dropped);
    tsv_add_number(out, timeline->plain_us, DIGITS);
    tsv_add_number(out, timeline->untraced_us, DIGITS);
    tsv_add_number(out, timeline->traced_us, DIGITS);
    tsv_add_number(out, timeline->plain_life, DIGITS);
    tsv_add_number(out, timeline->traced_life, DIGITS);
    text_print(out, "\t%d\t%d\t%d\n", timeline->launch_count, timeline->site_count, timeline->line_count);
    for (int i = 0; i < timeline->launch_count; i++) {
        const WarpLaunch *launch = &timeline->launches[i];
        text_add(out, "launch");
        tsv_add_word(out, launch->entry);
        for (int k = 0; k < 3; k++) text_print(out, "\t%" PRIu32, launch->grid[k]);
        for (int k = 0; k < 3; k++) text_print(out, "\t%" PRIu32, launch->block[k]);
        text_add(out, "\n");
    }
    for (int i = 0; i < timeline->site_count; i++) {
        const WarpSite *site = &timeline->sites[i];
        text_print(out, "site\t%s\t%d\t%d", warp_state_name(site->state), site->launch, site->pc);
        add_optional(site->load, site->load >= 0, out);
        add_optional(site->line, site->line > 0, out);
        text_add(out, "\n");
    }
    for (int i = 0; i < timeline->line_count; i++) add_line(&timeline->lines[i], out);
}

/* ---- reading ------------------------------------------------------------------------------------------- */

typedef struct WarpReader {
    TsvReader tsv;
    WarpFileTake *take;
    void *context;
    WarpTimeline *timeline;
    int launches, sites, lines; /* read so far */
    int waits;                  /* of the last line */
    uint32_t before;
    uint64_t all_waits;
} WarpReader;

static WarpLine *last_line(const WarpReader *reader) {
    return reader->timeline && reader->lines ? &reader->timeline->lines[reader->lines - 1] : NULL;
}

static bool end_line(const WarpReader *reader, Error *error) {
    const WarpLine *line = last_line(reader);
    return !line || reader->waits == line->wait_count ||
           tsv_refuse(&reader->tsv, error, "the warp above has %d of its %d waits", reader->waits,
                      line->wait_count);
}

static bool end_timeline(const WarpReader *reader, Error *error) {
    WarpTimeline *timeline = reader->timeline;
    if (!timeline) return true;
    if (!end_line(reader, error)) return false;
    if (reader->launches != timeline->launch_count || reader->sites != timeline->site_count ||
        reader->lines != timeline->line_count)
        return tsv_refuse(&reader->tsv, error,
                          "the timeline above has %d launches, %d sites and %d warps, not %d, %d and %d",
                          reader->launches, reader->sites, reader->lines, timeline->launch_count,
                          timeline->site_count, timeline->line_count);
    warp_timeline_finish(timeline);
    return true;
}

static bool take(WarpReader *reader, Error *error) {
    if (!end_timeline(reader, error)) return false;
    if (reader->timeline) reader->take(reader->context, reader->timeline);
    reader->timeline = NULL;
    return true;
}

static bool read_warps(void *context, Error *error) {
    WarpReader *reader = context;
    const TsvReader *tsv = &reader->tsv;
    uint32_t counts[3];
    if (!take(reader, error) || !tsv_has_columns(tsv, WARPS_FIELDS, error) ||
        !tsv_whole32(tsv, 17, 1, WARP_MOST_LAUNCHES, &counts[0], error) ||
        !tsv_whole32(tsv, 18, 0, UINT16_MAX, &counts[1], error) ||
        !tsv_whole32(tsv, 19, 0, WARP_MOST_LINES, &counts[2], error))
        return false;
    WarpTimeline *timeline = warp_timeline_new((int)counts[0], (int)counts[1], (int)counts[2]);
    double *const times[] = {&timeline->plain_us, &timeline->untraced_us, &timeline->traced_us,
                             &timeline->plain_life, &timeline->traced_life};
    reader->timeline = timeline;
    reader->launches = reader->sites = reader->lines = reader->waits = 0;
    timeline->is_order_only = !strcmp(tsv->columns[10], "order");
    if (!timeline->is_order_only && strcmp(tsv->columns[10], "lengths") != 0)
        return tsv_refuse(tsv, error, "column 11 is '%.24s', not order or lengths", tsv->columns[10]);
    for (int i = 0; i < (int)(sizeof times / sizeof *times); i++)
        if (!tsv_number_within(tsv, 12 + i, 0, 1e12, times[i], error)) return false;
    return tsv_whole32(tsv, 8, 0, 1023, &timeline->multiprocessor, error) &&
           tsv_whole32(tsv, 9, 0, 64, &timeline->resident, error) &&
           tsv_whole(tsv, 11, 0, UINT64_MAX, &timeline->dropped, error) &&
           timeline_run_read(tsv, &timeline->arena, &timeline->of, error);
}

/* False with `error`: no timeline is open. */
static bool has_timeline(const WarpReader *reader, Error *error) {
    return reader->timeline ||
           tsv_refuse(&reader->tsv, error, "there is no timeline above that this line belongs to");
}

static bool read_launch(void *context, Error *error) {
    WarpReader *reader = context;
    if (!has_timeline(reader, error)) return false;
    if (reader->launches == reader->timeline->launch_count)
        return tsv_refuse(&reader->tsv, error, "the timeline has only %d launches", reader->launches);
    WarpLaunch *launch = &reader->timeline->launches[reader->launches++];
    if (!tsv_has_columns(&reader->tsv, LAUNCH_FIELDS, error)) return false;
    launch->entry = arena_copy_string(&reader->timeline->arena, tsv_word(&reader->tsv, 1));
    for (int i = 0; i < 3; i++)
        if (!tsv_whole32(&reader->tsv, 2 + i, 1, INT32_MAX, &launch->grid[i], error) ||
            !tsv_whole32(&reader->tsv, 5 + i, 1, 1024, &launch->block[i], error))
            return false;
    return true;
}

static bool read_optional(const TsvReader *tsv, int column, int none, int *out, Error *error) {
    uint32_t number;
    *out = none;
    if (!*tsv_word(tsv, column)) return true;
    if (!tsv_whole32(tsv, column, 0, INT32_MAX, &number, error)) return false;
    *out = (int)number;
    return true;
}

static bool read_site(void *context, Error *error) {
    WarpReader *reader = context;
    if (!has_timeline(reader, error)) return false;
    const TsvReader *tsv = &reader->tsv;
    uint32_t launch, pc;
    if (reader->sites == reader->timeline->site_count)
        return tsv_refuse(tsv, error, "the timeline has only %d sites", reader->sites);
    WarpSite *site = &reader->timeline->sites[reader->sites++];
    if (!tsv_has_columns(tsv, SITE_FIELDS, error) ||
        !tsv_whole32(tsv, 2, 0, (uint32_t)reader->timeline->launch_count - 1, &launch, error) ||
        !tsv_whole32(tsv, 3, 0, INT32_MAX, &pc, error) || !read_optional(tsv, 4, -1, &site->load, error) ||
        !read_optional(tsv, 5, 0, &site->line, error))
        return false;
    site->launch = (int)launch;
    site->pc = (int)pc;
    for (int state = WARP_WORKS + 1; state < WARP_STATES; state++)
        if (!strcmp(tsv->columns[1], warp_state_name((WarpActivity)state))) site->state = (WarpActivity)state;
    return site->state != WARP_WORKS ||
           tsv_refuse(tsv, error, "'%.24s' is nothing to wait for", tsv->columns[1]);
}

static bool read_warp(void *context, Error *error) {
    WarpReader *reader = context;
    if (!has_timeline(reader, error)) return false;
    const TsvReader *tsv = &reader->tsv;
    uint32_t launch, waits;
    if (!end_line(reader, error)) return false;
    if (reader->lines == reader->timeline->line_count)
        return tsv_refuse(tsv, error, "the timeline has only %d warps", reader->lines);
    WarpLine *line = &reader->timeline->lines[reader->lines];
    if (!tsv_has_columns(tsv, WARP_FIELDS, error) ||
        !tsv_whole32(tsv, 1, 0, (uint32_t)reader->timeline->launch_count - 1, &launch, error) ||
        !tsv_whole(tsv, 2, 0, UINT64_MAX, &line->block, error) ||
        !tsv_whole32(tsv, 3, 0, 31, &line->warp, error) || !tsv_whole32(tsv, 4, 0, 255, &line->slot, error) ||
        !tsv_whole32(tsv, 5, 0, WARP_MOST_CYCLES, &line->begin, error) ||
        !tsv_whole32(tsv, 6, line->begin, WARP_MOST_CYCLES, &line->end, error) ||
        !tsv_whole32(tsv, 7, 0, (uint32_t)(WARP_MOST_WAITS - reader->all_waits), &waits, error))
        return false;
    line->launch = (int)launch;
    line->wait_count = (int)waits;
    line->waits = arena_new(&reader->timeline->arena, waits * sizeof *line->waits + 1);
    reader->all_waits += waits;
    reader->before = line->begin;
    reader->waits = 0;
    reader->lines++;
    return true;
}

static bool take_number(char **at, uint64_t most, uint64_t *out) {
    char *end;
    if (**at < '0' || **at > '9') return false;
    *out = strtoull(*at, &end, 10);
    *at = end;
    return *out <= most;
}

/* Reads "3,120,45" or "3,120,45,7". */
static bool take_wait(WarpReader *reader, char **at, WarpWait *wait) {
    uint64_t site, gap, length, lane = 0;
    if (!take_number(at, UINT16_MAX, &site) || *(*at)++ != ',' || !take_number(at, UINT32_MAX, &gap) ||
        *(*at)++ != ',' || !take_number(at, UINT32_MAX, &length))
        return false;
    if (**at == ',' && (++*at, !take_number(at, 31, &lane))) return false;
    uint64_t begin = reader->before + gap;
    if (site >= (uint64_t)reader->timeline->site_count || begin + length > WARP_MOST_CYCLES ||
        (**at && **at != ' '))
        return false;
    *wait = (WarpWait){(uint32_t)begin, (uint32_t)(begin + length), (uint16_t)site, (uint8_t)lane};
    reader->before = (uint32_t)begin;
    *at += **at == ' ';
    return true;
}

static bool read_waits(void *context, Error *error) {
    WarpReader *reader = context;
    const WarpLine *line = last_line(reader);
    if (!line) return tsv_refuse(&reader->tsv, error, "there is no warp above that these waits belong to");
    if (!tsv_has_columns(&reader->tsv, 2, error)) return false;
    for (char *at = reader->tsv.columns[1]; *at;) {
        const char *text = at;
        if (reader->waits == line->wait_count)
            return tsv_refuse(&reader->tsv, error, "the warp has only %d waits", line->wait_count);
        if (!take_wait(reader, &at, &line->waits[reader->waits]))
            return tsv_refuse(&reader->tsv, error, "'%.24s' is not SITE,GAP,LENGTH of a wait", text);
        reader->waits++;
    }
    return true;
}

static bool read_timelines(WarpReader *reader, WarpFileTake *take_timeline, void *context, Error *error) {
    static const TsvKind kinds[] = {{"warps", read_warps},
                                    {"launch", read_launch},
                                    {"site", read_site},
                                    {"warp", read_warp},
                                    {"w", read_waits}};
    reader->take = take_timeline;
    reader->context = context;
    bool good = tsv_read_kinds(&reader->tsv, kinds, sizeof kinds / sizeof *kinds, reader, error) &&
                take(reader, error);
    if (!good) warp_timeline_free(reader->timeline);
    tsv_close(&reader->tsv);
    return good;
}

bool warp_file_read(const char *path, WarpFileTake *take_timeline, void *context, Error *error) {
    WarpReader reader = {.timeline = NULL};
    return tsv_open(&reader.tsv, path, error) && read_timelines(&reader, take_timeline, context, error);
}

bool warp_file_read_text(const char *text, const char *path, WarpFileTake *take_timeline, void *context,
                         Error *error) {
    WarpReader reader = {.timeline = NULL};
    tsv_open_text(&reader.tsv, text, path);
    return read_timelines(&reader, take_timeline, context, error);
}
