/* The program redviz-record: records what ships, and prints what the front end and the tables make of input.
 * It is for the maintainer of redviz, built beside it and not installed. Exit status: 0 done; 2 bad usage,
 * bad input. */
#define _POSIX_C_SOURCE 200809L

#include "cli/finish.h"
#include "record/maintain.h"
#include <locale.h>
#include <signal.h>
#include <unistd.h>

int main(int argc, char **argv) {
    Error error = {0};
    Options options;
    signal(SIGXFSZ, SIG_IGN); /* a write past the limit of a file's size fails, and is reported */
    setlocale(LC_CTYPE, "");
    options_begin(&options);
    options.records = true;
    options.commit = "";
    if (!options_parse(argc, argv, &options, &error)) return finish_refuse(&error);
    int status = finish_output(maintain_perform(&options, &error));
    if (session_gpu_is_hung()) _exit(status); /* the driver's own clean-up would wait for the kernel */
    return status;
}
