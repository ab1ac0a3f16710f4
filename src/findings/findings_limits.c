/* The limits of a race search: what it may have missed, and why (findings.h, Findings.limits). */
#include "findings/findings_list.h"
#include "findings/races/shadow_memory.h"
#include "base/language.h"
#include "base/sentence.h"

void findings_add_limit(Findings *findings, Text *sentence) {
    if (findings->limit_count < FINDINGS_LIMITS)
        findings->limits[findings->limit_count++] = findings_keep(findings, sentence);
    else
        text_done(sentence);
}

void findings_set_unseen(Findings *findings, const FindingsUnseen *unseen, const char *names) {
    Text sentence = {0};
    CountText count;
    findings->has_unseen = true;
    findings->unseen = *unseen;
    if (unseen->places) {
        text_print(&sentence,
                   tr("The search keeps %d reads of a place; %s place%s had more when written%s: a race "
                      "there may be "
                      "missing."),
                   CELL_READS, count_text(unseen->places, &count), plural(unseen->places), names);
        findings_add_limit(findings, &sentence);
    }
    if (unseen->accesses) {
        text_print(&sentence,
                   tr("The search had no memory left for %s access%s: races with %s may be missing."),
                   count_text(unseen->accesses, &count), unseen->accesses == 1 ? "" : "es",
                   unseen->accesses == 1 ? "it" : "them");
        findings_add_limit(findings, &sentence);
    }
}

void findings_print_limits(const Findings *findings, Text *out) {
    for (int i = 0; i < findings->limit_count; i++) sentence_print(out, "", findings->limits[i]);
}

void findings_put_limits(const Findings *findings, Json *json) {
    if (findings && findings->has_unseen) {
        json_open_object(json, "unseen");
        json_unsigned(json, "places", findings->unseen.places);
        json_unsigned(json, "accesses", findings->unseen.accesses);
        json_close_object(json);
    } else {
        json_null(json, "unseen");
    }
    json_open_array(json, "limits");
    for (int i = 0; findings && i < findings->limit_count; i++) json_string(json, NULL, findings->limits[i]);
    json_close_array(json);
}
