/* The remedies of slow findings: which there are (ask.h). */
#include "ask/questions.h"

#include "findings/rewrite.h"
#include <string.h>

static void put_remedy(AskRemedy *remedies, int *count, AskRemedyKind kind, const char *name) {
    if (*count < ASK_REMEDIES) remedies[(*count)++] = (AskRemedy){kind, name};
}

/* A layout of the kind has fewer wavefronts. What cannot be rewritten is offered, and refused with its reason
 * when it is tried. */
static bool may_help(const Session *session, const Finding *of, LayoutKind kind) {
    SharedLayout layout;
    double rest;
    uint64_t width = rewrite_width(session->run->trace, of, NULL);
    return !width || layout_find(session->run->trace, of, width, kind, &layout, &rest);
}

int ask_remedies_of(const Session *session, const Finding *of, AskRemedy *remedies) {
    const CatalogRow *row = session->kernel.row;
    int count = 0;
    if (session->options.what_if.label) return 0;
    if (of->predicted && !session->code.other_count && !layout_is_of_tiles(session->run->trace, of, NULL)) {
        if (may_help(session, of, LAYOUT_PADS)) put_remedy(remedies, &count, ASK_PAD, "pad");
        if (may_help(session, of, LAYOUT_SWIZZLES)) put_remedy(remedies, &count, ASK_SWIZZLE, "swizzle");
    }
    for (int i = 0; row && i < CATALOG_NEXT && row->next[i].kernel; i++)
        if (!row->next[i].finding || !strcmp(row->next[i].finding, of->kind_text))
            put_remedy(remedies, &count, ASK_NEXT, row->next[i].kernel);
    return count;
}

void ask_name_remedies(const Session *session, Findings *list) {
    for (int i = 0; i < list->count; i++) {
        AskRemedy remedies[ASK_REMEDIES];
        if (list->items[i].severity != SEVERITY_SLOW) continue;
        int count = ask_remedies_of(session, &list->items[i], remedies);
        Text names = {0};
        for (int k = 0; k < count; k++) text_print(&names, "%s%s", k ? ", " : "", remedies[k].name);
        if (count) list->items[i].remedies = arena_copy_string(&list->arena, text_string(&names));
        text_done(&names);
    }
}

const char *ask_shown_by(FindingKind kind) {
    switch (kind) {
    case FINDING_BANK_CONFLICT:
        return "lab_bank_padding";
    case FINDING_UNCOALESCED:
        return "lab_coalescing";
    case FINDING_ATOMIC_CONFLICT:
        return "shuffle_atomic";
    case FINDING_IDLE_WARPS:
        return "shuffle"; /* one barrier, which no warp reaches without work */
    case FINDING_NEEDLESS_BARRIER:
        return "shuffle_last_warp";
    default:
        return "sequential";
    }
}
