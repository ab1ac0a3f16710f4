/* Layouts of a shared array: padded, or swizzled. Each maps the bytes of the array one to one, and keeps
 * units of `pad` bytes together, so that no access of that width is split. */
#ifndef FINDINGS_SHARED_LAYOUT_H
#define FINDINGS_SHARED_LAYOUT_H

#include "findings/findings.h"

typedef struct SharedLayout {
    uint64_t row, pad; /* bytes, powers of two: `pad` unused bytes after every `row` */
    bool swizzles;     /* instead of padding: within 128 bytes, XOR with the row's number in units of `pad` */
} SharedLayout;

/* True if the instruction belongs to the line of `finding`. */
bool finding_is_on_line(const Finding *finding, const TraceLaunch *launch, int pc);

uint64_t layout_offset(const SharedLayout *layout, uint64_t offset);
uint64_t layout_bytes(const SharedLayout *layout, uint64_t bytes); /* of an array of this size */

/* The layout with the fewest wavefronts among those that improve the finding's line, counted with every
 * traced access to its array. `width`: bytes of the widest access. *rest: the share of the line's wavefronts
 * that is left. False: none improves it. */
typedef enum LayoutKind {
    LAYOUT_PADS,
    LAYOUT_SWIZZLES,
    LAYOUT_ANY,
    LAYOUT_COPIED /* the swizzle of 128 bytes that a tensor copy makes: rows cannot be padded there */
} LayoutKind;
bool layout_find(const Trace *trace, const Finding *finding, uint64_t width, LayoutKind kind,
                 SharedLayout *best, double *rest);
/* True if a traced tensor copy fills the finding's array. *can_swizzle (may be NULL): its rows have 128
 * bytes, and are not swizzled yet. */
bool layout_is_of_tiles(const Trace *trace, const Finding *finding, bool *can_swizzle);

#endif
