#include "cli/lecture_offer.h"

#include "base/memory.h"
#include <string.h>

static const LectureRun *open_one(void *context, int index, Error *error) {
    OfferedLectures *offered = context;
    OpenLecture *open = &offered->opened[index];
    Options options = *offered->options;
    options.lecture = offered->names[index];
    if (!open->lecture && !cli_lecture_open(&options, open, error)) return NULL;
    return &open->run;
}

/* All its text, to search in. */
static const char *about(const Lecture *lecture, Arena *arena) {
    Text text = {0};
    for (int i = 0; i < lecture->stop_count; i++) {
        const LectureStop *stop = &lecture->stops[i];
        text_print(&text, "%s\n", stop->title);
        for (int b = 0; b < stop->block_count; b++) text_print(&text, "%s\n", stop->blocks[b].text);
    }
    const char *kept = arena_copy_string(arena, text_string(&text));
    text_done(&text);
    return kept;
}

void cli_lecture_offer_open(const Options *options, OfferedLectures *out) {
    char names[LECTURES_MOST][LECTURE_NAME_BYTES];
    int count = cli_lecture_names(names, NULL), kept = 0;
    *out = (OfferedLectures){.options = options};
    for (int i = 0; i < count; i++) {
        Lecture *lecture = cli_lecture_read_named(options, names[i], NULL);
        if (!lecture) continue;
        out->names[kept] = arena_copy_string(&out->arena, names[i]);
        out->abouts[kept] = about(lecture, &out->arena);
        out->titles[kept++] = arena_copy_string(&out->arena, lecture->title);
        lecture_free(lecture);
    }
    out->offer = (LectureOffer){{kept, out->names, out->titles, out->abouts}, open_one, out};
}

void cli_lecture_offer_close(OfferedLectures *offered) {
    for (int i = 0; i < offered->offer.rows.count; i++) cli_lecture_close(&offered->opened[i]);
    arena_done(&offered->arena);
    *offered = (OfferedLectures){0};
}
