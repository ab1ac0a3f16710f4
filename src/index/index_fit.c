#include "index/index_fit.h"

#include <inttypes.h>
#include <stdio.h>

typedef struct Fit {
    int64_t tid[WARP_LANES], index[WARP_LANES]; /* of the active lanes */
    int count;
} Fit;

/* value = a * of + b in all lanes. If `of` is the same in all, a is 0. */
static bool fit_line(const Fit *fit, const int64_t *of, const int64_t *value, int64_t *a, int64_t *b) {
    int other = 0;
    if (!fit->count) return false;
    while (other < fit->count && of[other] == of[0]) other++;
    *a = 0;
    if (other < fit->count) {
        int64_t run = of[other] - of[0], rise = value[other] - value[0];
        if (rise % run) return false;
        *a = rise / run;
    }
    *b = value[0] - *a * of[0];
    for (int i = 0; i < fit->count; i++)
        if (value[i] != *a * of[i] + *b) return false;
    return true;
}

/* Appends "term * a", or " + term", or nothing. `used`: of `out`. */
static int add_term(char *out, int used, const char *term, int64_t a) {
    const char *sign = a < 0 ? used ? " - " : "-" : used ? " + " : "";
    int64_t size = a < 0 ? -a : a;
    if (!a || used >= INDEX_TEXT_BYTES) return used;
    size_t room = INDEX_TEXT_BYTES - (size_t)used;
    if (!*term) return used + snprintf(out + used, room, "%s%" PRId64, sign, size);
    if (size == 1) return used + snprintf(out + used, room, "%s%s", sign, term);
    return used + snprintf(out + used, room, "%s%s * %" PRId64, sign, term, size);
}

static bool put(char *out, const char *term, int64_t a, const char *other, int64_t c, int64_t b) {
    int used = add_term(out, 0, term, a);
    used = add_term(out, used, other, c);
    used = add_term(out, used, "", b);
    if (!used) snprintf(out, INDEX_TEXT_BYTES, "0");
    return used < INDEX_TEXT_BYTES;
}

static bool fit_linear(const Fit *fit, char *out) {
    int64_t a, b;
    /* With a factor of 1, so that there is a number to turn. */
    return fit_line(fit, fit->tid, fit->index, &a, &b) && put(out, a == 1 ? "tid * 1" : "tid", a, "", 0, b);
}

/* a * (tid % k) + c * (tid / k) + b, written as tid * a + tid / k * d where that is a small padding. */
static bool fit_groups(const Fit *fit, int64_t k, char *out) {
    int64_t within[WARP_LANES] = {0}, group[WARP_LANES] = {0}, rest[WARP_LANES] = {0}, a = 0, b, c;
    bool has_pair = false;
    char term[32], other[32];
    for (int i = 0; i < fit->count; i++) within[i] = fit->tid[i] % k, group[i] = fit->tid[i] / k;
    for (int i = 1; i < fit->count && !has_pair; i++) {
        if (group[i] != group[i - 1]) continue;
        int64_t run = within[i] - within[i - 1], rise = fit->index[i] - fit->index[i - 1];
        if (rise % run) return false;
        a = rise / run;
        has_pair = true;
    }
    for (int i = 0; i < fit->count; i++) rest[i] = fit->index[i] - a * within[i];
    if (!has_pair || !fit_line(fit, group, rest, &c, &b)) return false;
    int64_t padding = c - a * k;
    snprintf(other, sizeof other, "tid / %" PRId64, k);
    if (a && padding >= 0 && padding < k) return put(out, "tid", a, other, padding, b);
    snprintf(term, sizeof term, "tid %% %" PRId64, k);
    return put(out, term, a, other, c, b);
}

/* The exclusive or with `mask`, or of the place within a group with the group, plus a line over tid. */
static bool fit_xor(const Fit *fit, int64_t mask, int64_t k, char *out) {
    int64_t rest[WARP_LANES] = {0}, of[WARP_LANES] = {0}, a, b;
    char term[64], other[32] = "tid";
    for (int i = 0; i < fit->count; i++) {
        int64_t tid = fit->tid[i];
        of[i] = k ? tid / k : tid;
        rest[i] = fit->index[i] - (k ? (tid % k) ^ (tid / k) : (tid % WARP_LANES) ^ mask);
    }
    if (!fit_line(fit, of, rest, &a, &b)) return false;
    if (k) {
        snprintf(term, sizeof term, "(tid %% %" PRId64 " ^ tid / %" PRId64 ")", k, k);
        snprintf(other, sizeof other, "tid / %" PRId64, k);
    } else {
        snprintf(term, sizeof term, "(lane ^ %" PRId64 ")", mask);
    }
    return put(out, other, a, term, 1, b);
}

bool index_fit(const uint64_t offset[WARP_LANES], const IndexOf *of, char out[INDEX_TEXT_BYTES]) {
    Fit fit = {0};
    for (int lane = 0; lane < WARP_LANES; lane++) {
        if (!(of->mask >> lane & 1)) continue;
        if (offset[lane] % (uint64_t)of->bytes || offset[lane] > (uint64_t)INDEX_LARGEST) return false;
        fit.tid[fit.count] = WARP_LANES * of->warp + lane;
        fit.index[fit.count++] = (int64_t)(offset[lane] / (uint64_t)of->bytes);
    }
    if (!fit.count) return false;
    if (fit_linear(&fit, out)) return true;
    for (int64_t k = 2; k < WARP_LANES; k *= 2)
        if (fit_groups(&fit, k, out)) return true;
    for (int64_t mask = 1; mask < WARP_LANES; mask++)
        if (fit_xor(&fit, mask, 0, out)) return true;
    for (int64_t k = 2; k < WARP_LANES; k *= 2)
        if (fit_xor(&fit, 0, k, out)) return true;
    return false;
}
