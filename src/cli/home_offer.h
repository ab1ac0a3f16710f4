/* What the home screen offers beside the catalogue: the files of this folder, and the last runs. */
#ifndef CLI_HOME_OFFER_H
#define CLI_HOME_OFFER_H

#include "cli/options.h"
#include "tui/app.h"

enum { HOME_FILES = 64, HOME_RECENT = 8 };

typedef struct OfferedHome {
    HomeOffer offer;
    const char *files[HOME_FILES], *recent[HOME_RECENT];
    Options options; /* of the earlier run that was opened last */
    Arena arena;
} OfferedHome;

/* The .cu, .ptx and .redviz files of the current folder, and the runs that home_remember() kept. */
void home_offer_open(OfferedHome *out);
void home_offer_close(OfferedHome *offered);

/* Keeps the command line of a run that the interface shows: the newest first, each once, in
 * $XDG_STATE_HOME/redviz/recent, by default below ~/.local/state. Files are kept with their whole path. A
 * folder that cannot be written is not an error: then nothing is kept. */
void home_remember(int argc, char **argv);

#endif
