/* Prints the recording (sass_record.h). */
#include "record/sass_record.h"

#include "sass/recorded.h"

typedef struct RecordingPrinter {
    FILE *out, *errors, *progress;
    bool has_begun;
} RecordingPrinter;

static void show_cell(void *context, const char *kernel, const char *dtype) {
    RecordingPrinter *printer = context;
    if (printer->progress) fprintf(printer->progress, "\r\033[K%s %s", kernel, dtype);
}

static void clear_cell(const RecordingPrinter *printer) {
    if (printer->progress) fputs("\r\033[K", printer->progress);
}

static void print_recorded(void *context, const SassKernel *kernel) {
    RecordingPrinter *printer = context;
    Text text = {0};
    if (!printer->has_begun) sass_record_begin(&text);
    printer->has_begun = true;
    sass_record_kernel(&text, kernel);
    fwrite(text_string(&text), 1, text.length, printer->out);
    fflush(printer->out);
    text_done(&text);
}

static void print_missing(void *context, const char *kernel, const char *dtype, const char *why) {
    RecordingPrinter *printer = context;
    clear_cell(printer);
    fprintf(printer->errors, "redviz-record: %s %s: %s\n", kernel, dtype, why);
}

bool record_print_sass(const BenchOptions *options, FILE *out, FILE *errors, FILE *progress, Error *error) {
    RecordingPrinter printer = {out, errors, progress, false};
    BenchSassSink sink = {&printer, show_cell, print_recorded, print_missing};
    bool good = bench_sass(options, &sink, error);
    clear_cell(&printer);
    return good;
}
