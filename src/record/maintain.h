/* Records what ships: machine code, grids, tables of accesses, and listings of the front end
 * (redviz-record). */
#ifndef RECORD_MAINTAIN_H
#define RECORD_MAINTAIN_H

#include "cli/options.h"

/* Performs the action of the command line; returns the exit status of the program. */
int maintain_perform(Options *options, Error *error);

#endif
