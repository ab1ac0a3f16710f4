/* Keeps the findings that a tool of compute-sanitizer shows. */
#include "findings/findings.h"

/* index[i]: the new index of item i; -1: it is dropped. The first error that is left replaces a lost lead. */
static void renumber_causes(Findings *list, const int *index) {
    int kept = 0;
    for (int c = 0; c < list->cause_count; c++) {
        FindingCause cause = list->causes[c];
        int lead = cause.lead, errors = list->error_count;
        cause.count = 0;
        for (int i = 0; i < errors; i++) {
            if (list->items[i].cause != c || index[i] < 0) continue;
            if (!cause.count++ || i == lead) cause.lead = index[i];
            list->items[i].cause = kept;
        }
        if (cause.count) list->causes[kept++] = cause;
    }
    list->cause_count = kept;
}

void findings_keep_tool(Findings *list, CheckTool tool) {
    int *index = arena_new(&list->arena, (size_t)(list->count + 1) * sizeof *index), kept = 0, errors = 0;
    for (int i = 0; i < list->count; i++)
        index[i] = check_tool_shows(tool, finding_tool(&list->items[i])) ? kept++ : -1;
    renumber_causes(list, index);
    for (int i = 0; i < list->count; i++) {
        if (index[i] < 0) continue;
        errors += i < list->error_count;
        list->items[index[i]] = list->items[i];
    }
    list->count = kept;
    list->error_count = errors;
    if (tool) list->below = NULL;
}
