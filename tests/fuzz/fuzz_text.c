/* Fuzz target of texts other than PTX; the first byte selects the kind: the CSV of --access, a compiler's
 * output, CUDA with its host code blanked out, timelines of warps. The results must satisfy their headers. */
#include "base/text.h"
#include "compile/device_code.h"
#include "compile/compiler_messages.h"
#include "metrics/access_csv.h"
#include "trace/warp_file.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_error(const Error *error) {
    if (!error->message[0] || strchr(error->message, '\n')) abort();
    if (error->caret < 0 || (size_t)error->caret > sizeof error->excerpt) abort();
}

static void read_table(const char *text, size_t length) {
    Text out = {0};
    Error error = {0};
    if (!access_csv_count(text, length, "fuzz.csv", &out, &error)) check_error(&error);
    text_done(&out);
}

static void read_messages(const char *text) {
    Error error = {0};
    if (messages_to_error(text, "nvcc", &error)) abort();
    check_error(&error);
}

static void visit(void *context, const char *name, size_t length) {
    const char *text = context;
    if (name < text || name + length > text + strlen(text)) abort();
}

/* Line breaks stay in place, and nothing else appears. */
static void read_cuda(char *text) {
    size_t length = strlen(text);
    char *before = malloc(length + 1);
    Text templates = {0};
    memcpy(before, text, length + 1);
    device_code_includes(text, true, visit, text);
    device_code_includes(text, false, visit, text);
    device_code_templates(text, &templates);
    device_code_keep(text);
    if (strlen(text) != length) abort();
    for (size_t i = 0; i < length; i++)
        if (text[i] != before[i] && (text[i] != ' ' || before[i] == '\n')) abort();
    text_done(&templates);
    free(before);
}

static void check_timeline(void *context, WarpTimeline *timeline) {
    double cycles[WARP_STATES], lives = 0, sum = 0;
    (void)context;
    warp_state_cycles(timeline, cycles);
    for (int i = 0; i < WARP_STATES; i++) sum += cycles[i];
    for (int i = 0; i < timeline->line_count; i++) lives += timeline->lines[i].end - timeline->lines[i].begin;
    if (sum != lives) abort();
    WarpSummary summary = warp_summary(timeline, 0, timeline->cycles);
    if (summary.ready + summary.empty > summary.cycles) abort();
    warp_timeline_free(timeline);
}

static void read_timelines(const char *text) {
    Error error = {0};
    if (!warp_file_read_text(text, "fuzz.tsv", check_timeline, NULL, &error)) check_error(&error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (!size) return 0;
    char *text = malloc(size);
    memcpy(text, data + 1, size - 1);
    text[size - 1] = 0;
    if (data[0] % 4 == 0)
        read_table(text, size - 1);
    else if (data[0] % 4 == 1)
        read_messages(text);
    else if (data[0] % 4 == 2)
        read_cuda(text);
    else
        read_timelines(text);
    free(text);
    return 0;
}
