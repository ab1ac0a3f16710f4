/* The machine code of --sass and --report as JSON. Values that were not counted or sampled are null. */
#include "report/report_sass.h"
#include "sass/sass.h"

#include <stdlib.h>

static void put_count(Json *json, const char *key, bool is_known, uint64_t count) {
    if (is_known)
        json_unsigned(json, key, count);
    else
        json_null(json, key);
}

/* Samples by the profiler's names of the reasons, without zeros. */
static void put_sums(Json *json, const SassKernel *kernel, const SassSums *sums) {
    put_count(json, "executed", kernel->counted.n, sums->executed);
    put_count(json, "threads", kernel->counted.n, sums->threads);
    put_count(json, "acting", kernel->counted.n, sums->acting);
    if (!kernel->sampled.n) {
        json_null(json, "samples");
        return;
    }
    json_open_object(json, "samples");
    for (int i = 0; i < SASS_STALLS; i++)
        if (sums->samples[i]) json_unsigned(json, sass_stalls[i].tool_name, sums->samples[i]);
    json_close_object(json);
}

static void put_size(Json *json, const char *key, const SassMeasured *measured, bool has_period) {
    if (!measured->n) {
        json_null(json, key);
        return;
    }
    json_open_object(json, key);
    json_unsigned(json, "n", measured->n);
    json_unsigned(json, "grid", measured->grid);
    json_unsigned(json, "block", measured->block);
    if (has_period) put_count(json, "period", measured->period, measured->period);
    json_number(json, "overhead", measured->overhead);
    json_close_object(json);
}

static void put_resources(Json *json, const SassKernel *kernel) {
    const SassResources *resources = &kernel->resources;
    json_string(json, "assembler", kernel->assembler);
    json_string(json, "architecture", kernel->architecture);
    put_count(json, "registers", kernel->has_resources, (uint64_t)resources->registers);
    put_count(json, "static_shared_bytes", kernel->has_resources, resources->shared_bytes);
    put_count(json, "stack_bytes", kernel->has_resources, resources->stack_bytes);
    put_count(json, "spill_store_bytes", kernel->has_resources, resources->spill_store_bytes);
    put_count(json, "spill_load_bytes", kernel->has_resources, resources->spill_load_bytes);
}

static void put_head(Json *json, const SassKernel *kernel, int launch) {
    json_integer(json, "launch", launch);
    json_string(json, "entry", kernel->entry);
    json_string(json, "machine", kernel->machine);
    json_string(json, "driver", kernel->driver);
    json_string(json, "measured", kernel->measured);
    put_resources(json, kernel);
    json_integer(json, "instruction_count", kernel->count);
    put_size(json, "counted", &kernel->counted, false);
    put_size(json, "sampled", &kernel->sampled, true);
}

static void put_lines(Json *json, const SassKernel *kernel, int launch) {
    int count;
    SassLine *lines = sass_by_line(kernel, &count);
    for (int i = 0; i < count; i++) {
        json_open_object(json, NULL);
        json_integer(json, "launch", launch);
        json_string(json, "file", lines[i].file);
        put_count(json, "line", lines[i].line > 0, (uint64_t)lines[i].line);
        json_integer(json, "instruction_count", lines[i].instruction_count);
        put_sums(json, kernel, &lines[i].sums);
        json_close_object(json);
    }
    free(lines);
}

/* From the code's own place outwards to where it was inlined. */
static void put_places(Json *json, const SassKernel *kernel, int place) {
    json_open_array(json, "places");
    for (; place >= 0; place = kernel->places[place].inlined_at) {
        json_open_object(json, NULL);
        json_string(json, "file", kernel->places[place].file);
        put_count(json, "line", kernel->places[place].line > 0, (uint64_t)kernel->places[place].line);
        json_close_object(json);
    }
    json_close_array(json);
}

static void put_instruction(Json *json, const SassKernel *kernel, const SassInstruction *in) {
    SassSums sums = {.executed = 0};
    sass_add_up(&sums, in);
    json_open_object(json, NULL);
    json_unsigned(json, "offset", in->offset);
    put_places(json, kernel, in->place);
    put_count(json, "ptx_line", in->ptx_line > 0, (uint64_t)in->ptx_line);
    json_string(json, "label", in->label);
    json_string(json, "text", in->text);
    put_sums(json, kernel, &sums);
    json_close_object(json);
}

static void put_differences(Json *json, const SassComparison *comparison) {
    static const char *const names[SASS_REASONS] = {
#define REASON(name, meaning) #name,
#include "sass/reasons.def"
#undef REASON
    };
    for (int i = 0; i < comparison->count; i++) {
        const SassDifference *difference = &comparison->differences[i];
        PtxSourceLine line = sass_difference_line(comparison, difference);
        Text sentence = {0};
        sass_difference_print(comparison, difference, &sentence);
        json_open_object(json, NULL);
        json_string(json, "file", line.file);
        put_count(json, "line", line.file, (uint64_t)line.line);
        json_string(json, "reason", names[difference->reason]);
        json_integer(json, "ptx_count", difference->ptx_count);
        json_integer(json, "sass_count", difference->sass_count);
        json_string(json, "text", text_string(&sentence));
        json_close_object(json);
        text_done(&sentence);
    }
}

void report_sass_json(const ReportSass *input, Text *out) {
    Json json = {.out = out};
    json_open_object(&json, NULL);
    json_string(&json, "kernel", input->kernel);
    json_open_array(&json, "launches");
    for (int i = 0; i < input->launch_count; i++) {
        const SassKernel *kernel = input->sass[i];
        json_open_object(&json, NULL);
        json_string(&json, "missing", kernel ? NULL : input->why[i]);
        if (kernel) {
            put_head(&json, kernel, i);
            json_open_array(&json, "lines");
            put_lines(&json, kernel, i);
            json_close_array(&json);
            json_open_array(&json, "differences");
            if (input->compared && input->compared[i]) put_differences(&json, input->compared[i]);
            json_close_array(&json);
            json_open_array(&json, "instructions");
            for (int k = 0; k < kernel->count; k++) put_instruction(&json, kernel, &kernel->instructions[k]);
            json_close_array(&json);
        }
        json_close_object(&json);
    }
    json_close_array(&json);
    json_close_object(&json);
    text_add(out, "\n");
}

/* ---- fields of "measured" in the report's JSON --------------------------------------------------------- */

void report_put_sass(Json *json, const ReportInput *input) {
    const SassKernel *any = report_first_sass(input);
    json_string(json, "machine", any ? any->machine : NULL);
    if (!any) {
        json_null(json, "sass");
        json_null(json, "lines");
        return;
    }
    json_open_array(json, "sass");
    for (int i = 0; i < input->trace->launch_count; i++) {
        if (!input->sass[i]) continue;
        json_open_object(json, NULL);
        put_head(json, input->sass[i], i);
        json_close_object(json);
    }
    json_close_array(json);
    json_open_array(json, "lines");
    for (int i = 0; i < input->trace->launch_count; i++)
        if (input->sass[i]) put_lines(json, input->sass[i], i);
    json_close_array(json);
}
