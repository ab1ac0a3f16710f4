/* The text of --help, from options.def. */
#include "cli/options.h"

#include <string.h>

/* "--report[=text|json]" */
static void print_usage(const OptionRow *row, char *out, size_t bytes) {
    const char *argument = row->argument ? row->argument : "";
    bool optional = *argument == '=';
    snprintf(out, bytes, "--%s%s%s%s", row->name,
             optional    ? "["
             : *argument ? " "
                         : "",
             argument, optional ? "]" : "");
}

void options_print_help(OptionPrograms program, Text *out) {
    enum { COLUMN = 28 };
    if (program == FOR_RECORD)
        text_add(
            out,
            "redviz-record: records what redviz ships, on a machine with a GPU\n\n"
            "  redviz-record --bench=tsv|grid|sass --kernel NAME    a file of assets/\n"
            "  redviz-record --dump-ir FILE.ptx                     what the front end makes of a file\n");
    else
        text_add(out,
                 "redviz: see how a CUDA reduction kernel really executes\n\n"
                 "  redviz                              open the home screen: kernels, lectures, exercises\n"
                 "  redviz NAME [options]               a kernel of the catalogue or a lecture, by its name\n"
                 "  redviz --kernel NAME [options]      open the interface on a kernel of the catalogue\n"
                 "  redviz FILE.cu|FILE.ptx [options]   the same for any other kernel\n"
                 "  redviz FILE.redviz [options]        the same for a run kept by --save\n"
                 "  redviz [options] -- PROGRAM ...     run a program that is already built, and show its "
                 "launches\n"
                 "  redviz ... --report                 print the metrics of the run; needs no terminal\n");
    const char *title;
    const OptionRow *row;
    for (int i = 0; (row = options_row(program, i, &title)); i++) {
        char usage[80];
        print_usage(row, usage, sizeof usage);
        if (title) text_print(out, "\n%s\n", title);
        if (strlen(usage) > COLUMN)
            text_print(out, "  %s\n  %*s %s\n", usage, COLUMN, "", row->help);
        else
            text_print(out, "  %-*s %s\n", COLUMN, usage, row->help);
    }
    text_add(out,
             "\nExit status: 0 done; 1 the run failed (wrong result, trap, hang, what --check finds), or its "
             "program did; 2 bad usage or bad input; 3 something is not emulated.\n");
}
