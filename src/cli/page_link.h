/* The link from a page of --html to the page of the interface (web/README.md). */
#ifndef CLI_PAGE_LINK_H
#define CLI_PAGE_LINK_H

#include "cli/options.h"

/* Appends the address of the same run or lecture. False, with something or nothing appended: redviz.html does
 * not lie beside the page, or cannot open that. */
bool page_link_add(const Options *options, Text *out);

#endif
