/* The inline marks of Markdown that a lecture uses. */
#include "lecture/lecture.h"

#include <string.h>

/* The end of the text between two of these marks; NULL: no closed pair begins here. */
static const char *closing_of(const char *at, const char *mark) {
    size_t length = strlen(mark);
    if (strncmp(at, mark, length) != 0 || !at[length] || at[length] == ' ') return NULL;
    return strstr(at + length, mark);
}

static bool read_link(const char **at, LectureSpan *span) {
    const char *bracket = **at == '[' ? strchr(*at, ']') : NULL;
    const char *closing = bracket && bracket[1] == '(' ? strchr(bracket, ')') : NULL;
    if (!closing) return false;
    *span = (LectureSpan){LECTURE_LINK, *at + 1, (size_t)(bracket - *at - 1), bracket + 2,
                          (size_t)(closing - bracket - 2)};
    *at = closing + 1;
    return true;
}

static bool read_marked(const char **at, LectureSpan *span) {
    static const struct {
        const char *mark;
        LectureMark kind;
    } marks[] = {{"``", LECTURE_INLINE_CODE},
                 {"`", LECTURE_INLINE_CODE},
                 {"**", LECTURE_STRONG},
                 {"*", LECTURE_EMPHASIS}};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        const char *closing = closing_of(*at, marks[i].mark);
        size_t length = strlen(marks[i].mark);
        if (!closing || closing == *at + length) continue;
        *span = (LectureSpan){marks[i].kind, *at + length, (size_t)(closing - *at - length), NULL, 0};
        *at = closing + length;
        return true;
    }
    return read_link(at, span);
}

bool lecture_next_span(const char **at, LectureSpan *span) {
    const char *begin = *at, *end = begin, *next;
    LectureSpan marked;
    if (!*begin) return false;
    if (read_marked(at, span)) return true;
    do {
        next = end += strcspn(end + 1, "`*[") + 1;
    } while (*end && !read_marked(&next, &marked));
    *span = (LectureSpan){LECTURE_PLAIN, begin, (size_t)(end - begin), NULL, 0};
    *at = end;
    return true;
}
