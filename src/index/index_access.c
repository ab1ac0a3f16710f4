#include "index/index_access.h"

#include "plan/expression.h"
#include <inttypes.h>
#include <string.h>

/* Keeps the column. */
static bool fail_at(int column, Error *error, const char *problem) {
    error_set(error, "%s", problem);
    if (error) error->column = column;
    return false;
}

static bool evaluate(const char *text, const IndexOf *of, int lane, int64_t *index, Error *error) {
    int64_t tid = WARP_LANES * of->warp + lane;
    const ExpressionName names[] = {
        {"tid", expression_integer(tid)},       {"lane", expression_integer(lane)},
        {"warp", expression_integer(of->warp)}, {"i", expression_integer(tid)},
        {"s", expression_integer(of->s)},       {"n", expression_integer(of->n)}};
    ExpressionValue value;
    Error inner = {0};
    if (!expression_evaluate(text, strlen(text), names, sizeof names / sizeof *names, &value, &inner)) {
        size_t length = strlen(text);
        /* The message begins with the whole text, which the reader sees anyway. */
        bool quotes = inner.message[0] == '\'' && !strncmp(inner.message + 1, text, length) &&
                      !strncmp(inner.message + 1 + length, "': ", 3);
        return fail_at(inner.column, error, quotes ? inner.message + length + 4 : inner.message);
    }
    *index = value.integer;
    return !value.is_float || fail_at(1, error, "an index is a whole number");
}

/* ---- words of banks ------------------------------------------------------------------------------------ */

static void count_words(const IndexOf *of, IndexAccess *access, int first, int lanes) {
    uint64_t seen[BANK_COUNT][WARP_LANES * 2];
    int count[BANK_COUNT] = {0};
    for (int lane = first; lane < first + lanes; lane++) {
        if (!(of->mask >> lane & 1)) continue;
        uint64_t end = (access->offset[lane] + (uint64_t)of->bytes - 1) / BANK_BYTES;
        for (uint64_t word = access->offset[lane] / BANK_BYTES; word <= end; word++) {
            int bank = (int)(word % BANK_COUNT), i = 0;
            while (i < count[bank] && seen[bank][i] != word) i++;
            if (i == count[bank]) seen[bank][count[bank]++] = word;
        }
    }
    for (int bank = 0; bank < BANK_COUNT; bank++) {
        if (count[bank] > access->words[bank]) access->words[bank] = count[bank];
        if (count[bank] > access->ways) access->ways = count[bank];
    }
}

static int count_lines(const IndexOf *of, const IndexAccess *access) {
    uint64_t seen[WARP_LANES] = {0};
    int count = 0;
    for (int lane = 0; lane < WARP_LANES; lane++) {
        uint64_t line = access->offset[lane] / LINE_BYTES; /* elements are aligned: each is in one line */
        int i = 0;
        if (!(of->mask >> lane & 1)) continue;
        while (i < count && seen[i] != line) i++;
        if (i == count) seen[count++] = line;
    }
    return count;
}

void index_access_count(const IndexOf *of, IndexAccess *access) {
    access->shared = access_shared_cost(!of->is_store, of->bytes, of->mask, access->offset);
    access->global = access_global_cost(of->bytes, of->mask, access->offset);
    access->lines = count_lines(of, access);
    access->ways = 0;
    memset(access->words, 0, sizeof access->words);
    int lanes = access->shared.phases ? WARP_LANES / access->shared.phases : WARP_LANES;
    for (int first = 0; first < WARP_LANES; first += lanes) count_words(of, access, first, lanes);
}

bool index_access(const char *text, const IndexOf *of, IndexAccess *out, Error *error) {
    *out = (IndexAccess){0};
    for (int lane = 0; lane < WARP_LANES; lane++) {
        int64_t index;
        if (!(of->mask >> lane & 1)) continue;
        if (!evaluate(text, of, lane, &index, error)) return false;
        if (index < 0) return error_set(error, "the index of lane %d is negative: %" PRId64, lane, index);
        if (index > INDEX_LARGEST / of->bytes)
            return error_set(error, "the index of lane %d is too large: %" PRId64, lane, index);
        out->offset[lane] = (uint64_t)index * (uint64_t)of->bytes;
    }
    index_access_count(of, out);
    return true;
}

bool index_access_fits_shared(const IndexOf *of, const IndexAccess *access) {
    for (int lane = 0; lane < WARP_LANES; lane++)
        if (access->offset[lane] + (uint64_t)of->bytes > INDEX_SHARED_BYTES) return false;
    return true;
}
