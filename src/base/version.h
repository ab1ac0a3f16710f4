/* The version of redviz, for --version, session files, the manual page and the packages. */
#ifndef BASE_VERSION_H
#define BASE_VERSION_H

#define REDVIZ_VERSION      "0.4.0"
#define REDVIZ_VERSION_DATE "2026-11-28"

/* In a packed tree (make dist), git archive writes it; else the Makefile asks git. */
#define REDVIZ_ARCHIVED_COMMIT "9e1d1b39eaf416c56a81c8382d1cfbf12afa19e2"

#endif
