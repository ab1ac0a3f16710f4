/* The program redviz: the command line decides what to print, or opens the interface (cli/actions.def).
 *
 * Exit status: 0 done; 1 the run failed (the kernel is wrong, trapped or hung); 2 bad usage, bad input, or
 * output that could not be written; 3 the kernel needs what is not emulated. Ctrl-C while --report runs
 * a kernel prints what is known so far, and ends as Ctrl-C does. */
#define _POSIX_C_SOURCE 200809L

#include "cli/config.h"
#include "cli/perform.h"
#include <locale.h>
#include <signal.h>
#include <unistd.h>

#ifndef REDVIZ_COMMIT
#define REDVIZ_COMMIT ""
#endif

int main(int argc, char **argv) {
    Error error = {0};
    Options options;
    signal(SIGXFSZ, SIG_IGN); /* a write past the limit of a file's size fails, and is reported */
    setlocale(LC_CTYPE, "");  /* characters only: numbers are written the same everywhere */
    options_begin(&options);
    if (!config_read(&options, &error) || !options_parse(argc, argv, &options, &error))
        return finish_refuse(&error);
    options.commit = REDVIZ_COMMIT;
    options.argc = argc;
    options.argv = argv;
    int status = finish_output(perform_action(&options, perform_print(options.action), &error));
    if (session_gpu_is_hung()) _exit(status); /* the driver's own clean-up would wait for the kernel */
    return status;
}
