#include "tui/scene/headline.h"

#include "base/characters.h"
#include "base/language.h"
#include "base/sentence.h"
#include "base/utf8.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- the verdict --------------------------------------------------------------------------------------- */

/* Appends ", off by 2048" to `before`; nothing if the result is exact, or the difference is not a number. */
static void add_off(const Scene *scene, const char *before, int digits, Text *out) {
    double off = scene->outcome.off;
    if (off == 0 || !isfinite(off)) return;
    if (off == floor(off) && off < 1e15)
        text_print(out, tr("%soff by %.0f"), before, off);
    else
        text_print(out, tr("%soff by %.*g"), before, digits, off);
}

/* "2048, exact 4096: off by 2048" */
static void add_comparison(const Scene *scene, bool with_off, Text *out) {
    text_print(out, tr("%s, exact %s"), scene->outcome.result, scene->outcome.expected);
    if (with_off) add_off(scene, tr(": "), 6, out);
}

/* `words`: 2 all, 0 the fewest. */
static void add_verdict(const Scene *scene, int words, Text *out) {
    const Trap *trap = scene_fatal_trap(scene);
    switch (scene->outcome.verdict) {
    case SCENE_RIGHT:
        text_add(out, scene->outcome.word ? tr(scene->outcome.word) : tr("result ok"));
        if (words) add_off(scene, tr(", "), 2, out);
        break;
    case SCENE_WRONG:
        text_add(out, tr("WRONG: "));
        /* fall through */
    case SCENE_OFF:
        add_comparison(scene, words > 0, out);
        break;
    case SCENE_WRONG_ON_PURPOSE:
        if (trap)
            text_add(out, trap_kind_mark(trap->kind));
        else
            add_comparison(scene, words > 0, out);
        if (trap || words > 1) text_add(out, tr(", on purpose"));
        break;
    case SCENE_TRAPPED:
        if (scene->traced.trace->traps[0].kind == TRAP_NOT_EMULATED)
            text_add(out, tr("ENDS: not emulated"));
        else
            text_add(out, trap_kind_mark(scene->traced.trace->traps[0].kind));
        break;
    case SCENE_COUNTING:
        text_add(out, tr("counting the grid ..."));
        break;
    default:
        text_add(out, tr("result not checked"));
    }
}

HeadlineTone headline_print_verdict(const Scene *scene, int columns, char *out, size_t bytes) {
    SceneVerdict verdict = scene->outcome.verdict;
    const Findings *found = scene->borrowed.hazards;
    int hazards = found ? found->error_count : 0;
    uint64_t times = 0;
    for (int i = 0; i < hazards && found->items; i++) times += found->items[i].count;
    bool may_be_luck = verdict == SCENE_RIGHT || verdict == SCENE_NOT_CHECKED;
    for (int form = 3; form >= 0; form--) {
        enum { OF_THE_RUN = 30 }; /* columns reserved for its type and size */
        int words = form > 2 ? 2 : form, room = form > 2 ? columns - OF_THE_RUN : columns;
        Text text = {0};
        add_verdict(scene, words, &text);
        if (hazards && may_be_luck) text_print(&text, tr(", %d hazard%s"), hazards, hazards == 1 ? "" : "s");
        if (hazards && may_be_luck && form > 2 && times > (uint64_t)hazards)
            text_print(&text, tr(", %s times"), count_text(times, &(CountText){0}));
        if (hazards && may_be_luck) text_add(&text, " (f)");
        snprintf(out, bytes, "%s", text_string(&text));
        bool fits = characters_columns(text_string(&text), text.length) <= (room > 0 ? room : 0);
        text_done(&text);
        if (fits) break;
    }
    if (hazards) return HEADLINE_WARNING;
    if (verdict == SCENE_RIGHT) return HEADLINE_GOOD;
    return verdict == SCENE_NOT_CHECKED || verdict == SCENE_COUNTING ? HEADLINE_PLAIN : HEADLINE_WARNING;
}

/* ---- the story ----------------------------------------------------------------------------------------- */

/* A wrong result without a line is in the verdict. */
static const Finding *first_finding(const Scene *scene) {
    const Findings *findings = scene->borrowed.hazards;
    int first = findings_first(findings);
    return first >= 0 && findings->items[first].access.line ? &findings->items[first] : NULL;
}

/* The sentence up to `stop` (NULL: all of it), if it fits. */
static bool keep_part(const char *sentence, const char *stop, int columns, char *out, size_t bytes) {
    const char *end = stop ? strstr(sentence, stop) : sentence + strlen(sentence);
    if (!end || characters_columns(sentence, (size_t)(end - sentence)) > columns ||
        (size_t)(end - sentence) >= bytes)
        return false;
    snprintf(out, bytes, "%.*s", (int)(end - sentence), sentence);
    return true;
}

/* Parts of a sentence that are complete without the rest; a slow place's figures in brackets are the first to
 * go. */
static bool keep_beginning(const Finding *finding, int columns, char *out, size_t bytes) {
    static const char *const stops[] = {NULL, ". ", ": the value is undefined", " (thread "};
    for (size_t i = 0; finding->sentence && i < sizeof stops / sizeof *stops; i++)
        if (keep_part(finding->sentence, stops[i] ? tr(stops[i]) : NULL, columns, out, bytes)) return true;
    if (!finding->sentence || finding->severity != SEVERITY_SLOW) return false;
    return keep_part(finding->sentence, tr(" ("), columns, out, bytes) ||
           keep_part(finding->sentence, tr(" in "), columns, out, bytes);
}

/* As much of the sentence as fits, cut only where it is complete without the rest; else the lines and the
 * kind of finding. */
static void print_finding(const Finding *finding, int columns, char *out, size_t bytes) {
    if (keep_beginning(finding, columns, out, bytes)) return;
    const char *what =
        finding->kind == FINDING_FAULT ? finding->kind_text : finding_kind_title(finding->kind);
    if (finding->other.line && finding->other.line != finding->access.line)
        snprintf(out, bytes, tr("lines %d and %d: %s"), finding->other.line, finding->access.line, what);
    else
        snprintf(out, bytes, tr("line %d: %s"), finding->access.line, what);
}

static int columns_of(const char *text) {
    return characters_columns(text, strlen(text));
}

enum { KEY_FORMS = 3 };

/* What to do about the story's finding: from the longest form to none. */
static const char *key_of(int form) {
    return form == 0 ? tr("   Enter: see it   e: edit") : form == 1 ? tr("   Enter: see it") : "";
}

void headline_print_story(const Scene *scene, int columns, char *out, size_t bytes) {
    const Finding *first = *scene->identity.story ? NULL : first_finding(scene);
    enum { NUMBER_COLUMNS = 3 }; /* "1. " */
    if (!first) {
        snprintf(out, bytes, "%s", scene->identity.story);
        return;
    }
    char text[512];
    int form, room = columns - NUMBER_COLUMNS;
    bool is_slow = first->severity == SEVERITY_SLOW, fits = false;
    for (form = 0; is_slow && !fits && form < KEY_FORMS; form++)
        fits = keep_beginning(first, room - columns_of(key_of(form)), text, sizeof text);
    if (!fits) print_finding(first, room, text, sizeof text);
    for (form = 0; *key_of(form) && columns_of(text) + columns_of(key_of(form)) > room;) form++;
    snprintf(out, bytes, "%d. %s%s",
             finding_number(scene->borrowed.hazards, (int)(first - scene->borrowed.hazards->items)), text,
             key_of(form));
    utf8_drop_half(out);
}
