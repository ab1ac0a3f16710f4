/* Finds the reason for a counter's difference in the machine code (counted.h). */
#include "metrics/counted.h"

/* The change of the count: additional or missing machine instructions, times their executions. */
static double weight_of(const SassComparison *comparison, const SassDifference *difference) {
    const SassKernel *kernel = comparison->kernel;
    int more = difference->sass_count - difference->ptx_count;
    double times = 1;
    for (int i = 0; kernel->counted.n && i < kernel->count; i++)
        if (comparison->owner[i] == difference->pc && (double)kernel->instructions[i].executed > times)
            times = (double)kernel->instructions[i].executed;
    return (more < 0 ? -more : more ? more : 0.5) * times;
}

/* Copies on several paths are executed as often as a single one; an unrolled loop has fewer branches. */
static bool is_about(const SassDifference *difference, SassClass class) {
    bool is_unrolled = difference->reason == SASS_UNROLLED;
    if (difference->reason == SASS_COPIED) return false;
    if (class == SASS_OTHER) return true;
    return is_unrolled ? class == SASS_BRANCH : difference->class == class;
}

static const SassDifference *find_heaviest(const SassComparison *comparison, SassClass class) {
    const SassDifference *found = NULL;
    double most = -1;
    for (int i = 0; i < comparison->count; i++) {
        double weight = weight_of(comparison, &comparison->differences[i]);
        if (!is_about(&comparison->differences[i], class) || weight <= most) continue;
        found = &comparison->differences[i];
        most = weight;
    }
    return found;
}

bool counted_reason(const MeasuredCounter *counter, const SassComparison *comparison, Text *out) {
    const CountedRow *row = counted_find(counter->metric);
    if (!row || !comparison || counter->note || row->class == SASS_CLASSES ||
        counter->value == counter->predicted || counted_agreement(counter) == COUNTED_WITHIN_NOISE)
        return false;
    const SassDifference *found = find_heaviest(comparison, row->class);
    if (!found) return false;
    PtxSourceLine line = sass_difference_line(comparison, found);
    const char *slash = line.file ? strrchr(line.file, '/') : NULL;
    text_print(out, "%s: ", row->label + strspn(row->label, " "));
    if (line.file) text_print(out, "%s:%d: ", slash ? slash + 1 : line.file, line.line);
    sass_difference_print(comparison, found, out);
    text_add(out, ".");
    return true;
}
