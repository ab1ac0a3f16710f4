/* The shipped lectures, for the menu of kernels: read at once, opened when one is chosen. */
#ifndef CLI_LECTURE_OFFER_H
#define CLI_LECTURE_OFFER_H

#include "cli/lecture_open.h"

typedef struct OfferedLectures {
    LectureOffer offer;
    const Options *options; /* borrowed: language, backend, machine */
    OpenLecture opened[LECTURES_MOST];
    const char *names[LECTURES_MOST], *titles[LECTURES_MOST], *abouts[LECTURES_MOST];
    Arena arena;
} OfferedLectures;

/* Omits lectures that cannot be read. Empty if none is installed. */
void cli_lecture_offer_open(const Options *options, OfferedLectures *out);
void cli_lecture_offer_close(OfferedLectures *offered);

#endif
