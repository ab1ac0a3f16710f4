#include "runtime/launch_list.h"

#include "base/memory.h"
#include "trace/trace.h"

#include <stdlib.h>

LaunchRow *launch_rows(const Captured *capture, int *count) {
    LaunchRow *rows = NULL;
    int capacity = 0;
    *count = 0;
    for (int i = 0; i < capture->launch_count; i++) {
        bool is_repeat = capture->launches[i].repeats >= 0;
        LaunchRow *before = *count ? &rows[*count - 1] : NULL;
        if (is_repeat && before && before->is_repeat) {
            before->last = i;
            continue;
        }
        LaunchRow row = {i, i, is_repeat};
        array_push(rows, *count, capacity, row);
    }
    return rows;
}

int launch_count_distinct(const Captured *capture) {
    int count = 0;
    for (int i = 0; i < capture->launch_count; i++) count += capture->launches[i].repeats < 0;
    return count;
}

/* ---- columns ------------------------------------------------------------------------------------------- */

static void print_volume(const uint32_t size[3], Text *out) {
    text_print(out, "%u", size[0]);
    if (size[1] > 1 || size[2] > 1) text_print(out, " x %u", size[1]);
    if (size[2] > 1) text_print(out, " x %u", size[2]);
}

/* 12,345 */
static void print_grouped(uint64_t number, Text *out) {
    if (number >= 1000) {
        print_grouped(number / 1000, out);
        text_print(out, ",%03u", (unsigned)(number % 1000));
    } else {
        text_print(out, "%u", (unsigned)number);
    }
}

static void print_short(uint64_t number, Text *out) {
    if (number < 100000)
        print_grouped(number, out);
    else if (number < 100000000)
        text_print(out, "%.1f M", (double)number * 1e-6);
    else
        text_print(out, "%.1f G", (double)number * 1e-9);
}

static void print_changed(const Captured *capture, const CapturedLaunch *launch, Text *out) {
    enum { MOST = 2 };
    for (int i = 0; i < launch->changed_count && i < MOST; i++) {
        const CapturedMemory *memory = &capture->memories[launch->changed[i].memory];
        text_print(out, "%s%s ", i ? ", " : "", memory->name ? memory->name : "memory");
        print_short(launch->changed[i].elements, out);
    }
    if (launch->changed_count > MOST) text_print(out, ", %d more", launch->changed_count - MOST);
    if (!launch->changed_count) text_add(out, "nothing");
}

/* How it ended; NULL: well. */
static const char *fault_of(const CapturedLaunch *launch) {
    if (launch->is_refused) return "refused";
    if (launch->is_cancelled) return "had not ended";
    if (launch->trap >= 0) return trap_kind_text((TrapKind)launch->trap);
    if (launch->error) return "failed";
    return launch->memories ? NULL : "not executed";
}

const char *launch_finding(const Captured *capture, int index, const LaunchShown *shown, uint64_t *count) {
    const CapturedLaunch *launch = &capture->launches[index];
    const Findings *own = shown->launch == index ? shown->findings : NULL;
    const char *fault = fault_of(launch);
    int first = findings_first(own);
    *count = 0;
    if (fault) return fault;
    if (own ? first < 0 : launch->finding && !*launch->finding) return "-";
    if (!own && !launch->finding) return "not known";
    const Finding *finding = own ? &own->items[first] : NULL;
    if (!finding)
        *count = launch->beyond;
    else if (finding->severity == SEVERITY_SLOW)
        *count = finding->cost - finding->ideal;
    return finding_kind_title(finding ? finding->kind : finding_kind_find(launch->finding));
}

/* "1 and 2" of the launches that a row of repeats repeats. */
static void print_repeated(const Captured *capture, const LaunchRow *row, Text *out) {
    enum { MOST = 4 };
    int seen[MOST], count = 0;
    for (int i = row->first; i <= row->last; i++) {
        int of = capture->launches[i].repeats;
        bool is_known = false;
        for (int s = 0; s < count; s++) is_known |= seen[s] == of;
        if (is_known) continue;
        if (count == MOST) {
            text_add(out, " ...");
            break;
        }
        text_print(out, "%s%d", count ? ", " : "", of + 1);
        seen[count++] = of;
    }
}

const char *launch_column_title(LaunchColumn column) {
    static const char *const titles[] = {"#",      "kernel",  "grid",   "block",
                                         "shared", "changed", "instr.", "finding"};
    return titles[column];
}

void launch_column_print(const Captured *capture, const LaunchRow *row, LaunchColumn column,
                         const LaunchShown *shown, Text *out) {
    uint64_t beyond;
    const CapturedLaunch *launch = &capture->launches[row->first];
    switch (column) {
    case LAUNCH_NUMBER:
        text_print(out, "%d", row->first + 1);
        if (row->last > row->first) text_print(out, "-%d", row->last + 1);
        break;
    case LAUNCH_KERNEL:
        if (row->is_repeat)
            text_add(out, "as "), print_repeated(capture, row, out);
        else
            text_add(out, launch->name);
        break;
    case LAUNCH_GRID:
        if (!row->is_repeat) print_volume(launch->grid, out);
        break;
    case LAUNCH_BLOCK:
        if (!row->is_repeat) print_volume(launch->block, out);
        break;
    case LAUNCH_SHARED:
        if (!row->is_repeat) print_grouped(launch->static_shared_bytes + launch->dynamic_shared_bytes, out);
        break;
    case LAUNCH_CHANGED:
        if (!row->is_repeat) print_changed(capture, launch, out);
        break;
    case LAUNCH_INSTRUCTIONS:
        if (!row->is_repeat) print_short(launch->instructions, out);
        break;
    default:
        text_add(out, row->is_repeat ? "the same" : launch_finding(capture, row->first, shown, &beyond));
        if (!row->is_repeat && beyond) text_add(out, " "), print_short(beyond, out);
        break;
    }
}

/* ---- the table ----------------------------------------------------------------------------------------- */

/* "program exited 0: 104 launches, 4 distinct, 1.3 s" */
static void print_summary(const Program *program, Text *out) {
    const Captured *capture = program->capture;
    text_add(out, "program ");
    program_describe_end(program, out);
    text_print(out, ": %d launch%s, %d distinct, %.1f s", capture->launch_count,
               capture->launch_count == 1 ? "" : "es", launch_count_distinct(capture), program->seconds);
}

static bool is_number_column(int column) {
    return column == LAUNCH_GRID || column == LAUNCH_BLOCK || column == LAUNCH_SHARED ||
           column == LAUNCH_INSTRUCTIONS;
}

/* A cell, cut to `width`. */
static void add_cell(const char *text, int column, size_t width, Text *out) {
    size_t length = strlen(text);
    if (length > width) {
        text_add_bytes(out, text, width - 3);
        text_add(out, "...");
    } else if (is_number_column(column)) {
        text_print(out, "%*s", (int)width, text);
    } else {
        text_print(out, "%-*s", (int)width, text);
    }
}

static void print_table(const Captured *capture, const LaunchRow *rows, int count, const LaunchShown *shown,
                        Text *out) {
    enum { WIDEST = 44 };
    size_t widths[LAUNCH_COLUMNS];
    Text cell = {0}, line = {0};
    for (int c = 0; c < LAUNCH_COLUMNS; c++) {
        widths[c] = strlen(launch_column_title((LaunchColumn)c));
        for (int r = 0; r < count; r++) {
            text_clear(&cell);
            launch_column_print(capture, &rows[r], (LaunchColumn)c, shown, &cell);
            if (cell.length > widths[c]) widths[c] = cell.length < WIDEST ? cell.length : WIDEST;
        }
    }
    for (int r = -1; r < count; r++) {
        text_clear(&line);
        for (int c = 0; c < LAUNCH_COLUMNS; c++) {
            text_clear(&cell);
            if (r < 0)
                text_add(&cell, launch_column_title((LaunchColumn)c));
            else
                launch_column_print(capture, &rows[r], (LaunchColumn)c, shown, &cell);
            text_add(&line, "  ");
            add_cell(text_string(&cell), c, widths[c], &line);
        }
        size_t length = line.length;
        while (length && line.data[length - 1] == ' ') length--;
        text_print(out, "%.*s\n", (int)length, text_string(&line));
    }
    text_done(&cell);
    text_done(&line);
}

void launch_list_print(const Program *program, int most, const LaunchShown *shown, Text *out) {
    int count;
    LaunchRow *rows = launch_rows(program->capture, &count);
    print_summary(program, out);
    text_add(out, "\n");
    print_table(program->capture, rows, most && count > most ? most : count, shown, out);
    if (most && count > most) text_print(out, "  ... %d further rows\n", count - most);
    host_findings_print(program, TOOL_NONE, out);
    free(rows);
}

/* ---- JSON ---------------------------------------------------------------------------------------------- */

static void put_size(Json *json, const char *key, const uint32_t size[3]) {
    json_open_array(json, key);
    for (int i = 0; i < 3; i++) json_unsigned(json, NULL, size[i]);
    json_close_array(json);
}

static void put_launch(const Captured *capture, int index, Json *json) {
    const CapturedLaunch *launch = &capture->launches[index];
    json_open_object(json, NULL);
    json_integer(json, "number", index + 1);
    json_string(json, "kernel", launch->name);
    put_size(json, "grid", launch->grid);
    put_size(json, "block", launch->block);
    put_size(json, "cluster", launch->cluster);
    json_unsigned(json, "dynamic_shared_bytes", launch->dynamic_shared_bytes);
    json_boolean(json, "cooperative", launch->cooperative);
    json_string(json, "file", launch->file);
    if (launch->line)
        json_integer(json, "line", launch->line);
    else
        json_null(json, "line");
    if (launch->repeats >= 0)
        json_integer(json, "repeats", launch->repeats + 1);
    else
        json_null(json, "repeats");
    json_unsigned(json, "warp_instructions", launch->instructions);
    json_integer(json, "error", launch->error);
    json_string(json, "why", launch->why);
    json_open_array(json, "changed");
    for (int i = 0; i < launch->changed_count; i++) {
        json_open_object(json, NULL);
        json_string(json, "memory", capture->memories[launch->changed[i].memory].name);
        json_unsigned(json, "words", launch->changed[i].count);
        json_unsigned(json, "elements_changed", launch->changed[i].elements);
        json_close_object(json);
    }
    json_close_array(json);
    json_close_object(json);
}

void launch_list_put_json(const Program *program, Json *json) {
    static const char *const ends[] = {"exited", "signal", "time_limit", "stopped"};
    Arena arena = {0};
    int count;
    HostFinding *found = host_findings(program, TOOL_NONE, &arena, &count);
    json_open_object(json, "program");
    json_string(json, "end", ends[program->end]);
    json_integer(json, "status", program->status);
    json_number(json, "seconds", program->seconds);
    json_string(json, "output", text_string(&program->output));
    json_open_array(json, "launches");
    for (int i = 0; i < program->capture->launch_count; i++) put_launch(program->capture, i, json);
    json_close_array(json);
    json_open_array(json, "host_findings");
    for (int i = 0; i < count; i++) {
        json_open_object(json, NULL);
        json_string(json, "severity", found[i].is_error ? "error" : "note");
        json_string(json, "file", found[i].file);
        if (found[i].line)
            json_integer(json, "line", found[i].line);
        else
            json_null(json, "line");
        json_string(json, "detail", found[i].text);
        json_close_object(json);
    }
    json_close_array(json);
    json_close_object(json);
    free(found);
    arena_done(&arena);
}
