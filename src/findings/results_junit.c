/* Results as JUnit XML, as Jenkins, GitLab and others read it: a test suite of a test case for each kernel of
 * each program, and of one for the host's code. */
#include "findings/accepted.h"

#include "base/visible.h"

static void add_attribute(Text *out, const char *name, const char *value) {
    text_print(out, " %s=\"", name);
    visible_add_xml(out, value);
    text_add(out, "\"");
}

/* "out_of_bounds, sum.cu line 3" */
static void print_place(const CheckResult *result, Text *out) {
    text_add(out, result->kind);
    if (result->place.file) text_print(out, ", %s line %d", result->place.file, result->place.line);
}

static void put_failure(const CheckResult *result, Text *out) {
    Text place = {0};
    print_place(result, &place);
    text_add(out, "      <failure");
    add_attribute(out, "type", result->kind);
    add_attribute(out, "message", text_string(&place));
    text_add(out, ">");
    visible_add_xml(out, result->message);
    text_add(out, "</failure>\n");
    text_done(&place);
}

/* A line for a result that does not fail: "note: ..." */
static void put_other(const CheckResult *result, Text *out) {
    Text line = {0};
    print_place(result, &line);
    text_print(&line, ": %s", result->message);
    if (result->suppressed) text_print(&line, " (suppressed: %s)", result->suppressed);
    if (result->is_known) text_add(&line, " (in the baseline)");
    text_print(out, "%s: ", result->is_sure ? finding_severity_text(result->severity) : "not certain");
    visible_add_xml(out, text_string(&line));
    text_add(out, "\n");
    text_done(&line);
}

/* Why the case counts as skipped: it was not checked, or a result of it is accepted. NULL: it does not. */
static const char *skip_reason(const CheckResults *results, const CheckCase *one) {
    if (!one->is_checked) return one->why;
    for (int i = 0; i < one->count; i++) {
        const CheckResult *result = &results->items[one->results[i]];
        if (result->suppressed) return result->suppressed;
        if (result->is_known) return "in the baseline";
    }
    return NULL;
}

static bool has_failed(const Accepted *accepted, const CheckResults *results, const CheckCase *one) {
    for (int i = 0; i < one->count; i++)
        if (accepted_fails(accepted, &results->items[one->results[i]])) return true;
    return false;
}

static void put_case(const Accepted *accepted, const CheckResults *results, const CheckCase *one,
                     const char *program, Text *out) {
    Text others = {0};
    const char *skip = has_failed(accepted, results, one) ? NULL : skip_reason(results, one);
    text_add(out, "    <testcase");
    add_attribute(out, "classname", program);
    add_attribute(out, "name", *one->kernel ? one->kernel : "host code and exit");
    text_add(out, ">\n");
    if (skip) {
        text_add(out, "      <skipped");
        add_attribute(out, "message", skip);
        text_add(out, "/>\n");
    }
    for (int i = 0; i < one->count; i++) {
        const CheckResult *result = &results->items[one->results[i]];
        (accepted_fails(accepted, result) ? put_failure : put_other)(
            result, accepted_fails(accepted, result) ? out : &others);
    }
    if (others.length) text_print(out, "      <system-out>%s</system-out>\n", text_string(&others));
    text_add(out, "    </testcase>\n");
    text_done(&others);
}

/* All cases are of one program. */
static bool has_one_program(const CheckResults *results) {
    const char *first = NULL;
    for (int i = 0; i < results->case_count; i++) {
        const char *program = results->cases[i].program;
        if (first && program && strcmp(first, program) != 0) return false;
        if (!first) first = program;
    }
    return true;
}

void accepted_put_junit(const Accepted *accepted, const CheckResults *results, const char *name, Text *out) {
    int failures = 0, skipped = 0;
    bool is_one = has_one_program(results);
    for (int i = 0; i < results->case_count; i++) {
        const CheckCase *one = &results->cases[i];
        bool failed = has_failed(accepted, results, one);
        failures += failed;
        skipped += !failed && skip_reason(results, one);
    }
    text_add(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite");
    add_attribute(out, "name", name);
    text_print(out, " tests=\"%d\" failures=\"%d\" errors=\"0\" skipped=\"%d\">\n", results->case_count,
               failures, skipped);
    for (int i = 0; i < results->case_count; i++) {
        const char *program = results->cases[i].program;
        put_case(accepted, results, &results->cases[i], is_one || !program ? name : program, out);
    }
    if (results->limit_count) text_add(out, "    <system-out>");
    for (int i = 0; i < results->limit_count; i++) {
        visible_add_xml(out, results->limits[i]);
        text_add(out, i + 1 < results->limit_count ? "\n" : "</system-out>\n");
    }
    text_add(out, "  </testsuite>\n</testsuites>\n");
}
