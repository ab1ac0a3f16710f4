#include "cli/lecture_offer.h"

#include "base/memory.h"
#include <string.h>

static const LectureRun *open_one(void *context, int index, Error *error) {
    OfferedLectures *offered = context;
    OpenLecture *open = &offered->opened[index];
    Options options = *offered->options;
    options.lecture = offered->names[index];
    if (!open->lecture && !lecture_open(&options, open, error)) return NULL;
    return &open->run;
}

void lecture_offer_open(const Options *options, OfferedLectures *out) {
    char names[LECTURES_MOST][LECTURE_NAME_BYTES];
    int count = lecture_names(names, NULL), kept = 0;
    *out = (OfferedLectures){.options = options};
    for (int i = 0; i < count; i++) {
        Lecture *lecture = lecture_read_named(options, names[i], NULL);
        if (!lecture) continue;
        out->names[kept] = arena_copy_string(&out->arena, names[i]);
        out->titles[kept++] = arena_copy_string(&out->arena, lecture->title);
        lecture_free(lecture);
    }
    out->offer = (LectureOffer){{kept, out->names, out->titles}, open_one, out};
}

void lecture_offer_close(OfferedLectures *offered) {
    for (int i = 0; i < offered->offer.rows.count; i++) lecture_close(&offered->opened[i]);
    arena_done(&offered->arena);
    *offered = (OfferedLectures){0};
}
