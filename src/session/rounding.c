/* Tells rounding from what a kernel leaves out, by a run without rounding. */
#include "session/state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool can_be_tried(const Session *session) {
    const ExpectResult *result = &session->result;
    bool is_of_its_own = session->kernel.row && result->verdict; /* a row whose lesson is its rounding */
    return session_may_repeat(session) && !is_of_its_own && ptx_type_is_float(result->type) &&
           result->bound > 0;
}

/* The result is within the bound of its rounding, but rounding is not what it is off by. */
static void keep_wrong(Session *session, const ExpectResult *unrounded) {
    Text what = {0}, why = {0};
    const char *known = session->guess.verdict.looks_like;
    text_print(&why, "(without rounding the same run gives %.12g, off by %.3g)", unrounded->result,
               unrounded->absolute_error);
    if (known) text_print(&what, "%s %s", known, text_string(&why));
    if (what.length)
        session->guess.verdict.looks_like = arena_copy_text(&session->arena, text_string(&what), what.length);
    session->findings.reach = arena_copy_text(&session->arena, text_string(&why), why.length);
    session->result.correct = session->guess.verdict.result.correct = false;
    text_done(&what);
    text_done(&why);
}

/* ---- where it comes from ------------------------------------------------------------------------------ */

enum { MOST_LINES = 64, SHOWN_LINES = 4 };

typedef struct RoundedLine {
    int number;
    double off; /* the most that a value of the line is off */
} RoundedLine;

static int read_lines(const Session *copy, RoundedLine *lines) {
    const SessionLaunches *launches = &copy->run->launches;
    int count = 0;
    for (int i = 0; i < launches->count; i++)
        for (int pc = 0; pc < launches->programs[i]->code_count; pc++) {
            const PtxCode *code = &launches->programs[i]->code[pc];
            double off = emulator_deviation(copy->run->emulator, i, pc);
            int number = code->line.line ? code->line.line : code->instruction->line, at = 0;
            if (off == 0) continue;
            while (at < count && lines[at].number != number) at++;
            if (at == MOST_LINES) continue;
            if (at == count) lines[count++] = (RoundedLine){.number = number};
            if (off > lines[at].off) lines[at].off = off;
        }
    return count;
}

static int by_number(const void *a, const void *b) {
    return ((const RoundedLine *)a)->number - ((const RoundedLine *)b)->number;
}

static int by_size(const void *a, const void *b) {
    double x = ((const RoundedLine *)a)->off, y = ((const RoundedLine *)b)->off;
    return (x < y) - (x > y);
}

static const char *lines_that_round(const Session *copy, Arena *arena) {
    RoundedLine lines[MOST_LINES];
    int count = read_lines(copy, lines);
    Text text = {0};
    qsort(lines, (size_t)count, sizeof *lines, by_size);
    if (count > SHOWN_LINES) count = SHOWN_LINES;
    while (count && lines[count - 1].off < lines[0].off / 100) count--;
    qsort(lines, (size_t)count, sizeof *lines, by_number);
    for (int i = 0; i < count; i++)
        text_print(&text, "%sline %d by up to %.2g", i ? ", " : "", lines[i].number, lines[i].off);
    const char *result = count ? arena_copy_text(arena, text_string(&text), text.length) : NULL;
    text_done(&text);
    return result;
}

/* ---- the verdict -------------------------------------------------------------------------------------- */

/* What the bound alone could not decide is decided. A sum that has lost a hundredth of itself is not called
 * ok. */
static void keep_right(ExpectResult *result) {
    result->is_rounding = true;
    if (result->verdict && !strcmp(result->verdict, "cannot be judged")) result->verdict = NULL;
    double smallest = result->type == PTX_F16 ? 0x1p-24 : 0; /* what tiny halves are multiples of */
    if (!result->verdict && result->absolute_error > fabs(result->expected) / 100 + smallest)
        result->verdict = "inexact";
}

/* The copy stored the same bits: a GPU, on which atomics come in another order, may not. */
static bool has_same_values(const Session *session, const Session *copy) {
    const Plan *own = &session->run->plan, *other = &copy->run->plan;
    bool is_same = own->buffer_count == other->buffer_count;
    for (int i = 0; i < own->buffer_count && is_same; i++) {
        const PlanBuffer *a = &own->buffers[i], *b = &other->buffers[i];
        is_same = !memcmp(a->bytes, b->bytes, (size_t)a->count * (size_t)ptx_type_bytes(a->type));
    }
    return is_same;
}

void session_find_rounding(Session *session) {
    bool is_known_right = session->kernel.row && !session->code.is_edited && !session->options.finds_rounding;
    if (is_known_right || !can_be_tried(session)) return;
    Plan plan;
    plan_copy(&session->run->filled, &plan);
    Session *copy = session_judge_again(session, &plan, true);
    bool is_known = copy && copy->has_result && copy->result.compared && !trace_has_fault(copy->run->trace);
    if (is_known && !copy->result.correct) {
        keep_wrong(session, &copy->result);
    } else if (is_known && has_same_values(session, copy)) {
        keep_right(&session->result);
        keep_right(&session->guess.verdict.result);
        session->result.rounding = session->guess.verdict.result.rounding =
            lines_that_round(copy, &session->arena);
    }
    session_free(copy);
}
