/* The contents of buffers before a run: the same seed gives the same bytes on every machine, so the generator
 * is our own. */
#define _POSIX_C_SOURCE 200809L
#include "plan/loops.h"
#include "plan/plan.h"

#include "base/number.h"
#include "base/text.h"
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static double default_scale(const PlanBuffer *buffer) {
    if (ptx_type_is_float(buffer->type)) return buffer->whole_numbers ? 8 : 1;
    int size = ptx_type_bytes(buffer->type);
    return size == 1 ? 10 : size == 2 ? 100 : 1000;
}

typedef struct Random {
    uint64_t seed, choices;
    double scale;
    bool is_whole, has_sign, has_range;
    double low, high;
} Random;

static double random_number(const Random *random, uint64_t i) {
    double fraction = (double)(loops_random_bits(random->seed, i) >> 11) * 0x1p-53; /* [0, 1) */
    if (random->has_range)
        return random->is_whole ? random->low + floor(fraction * (random->high - random->low + 1))
                                : random->low + fraction * (random->high - random->low);
    double least = random->has_sign ? -random->scale : 0;
    if (random->is_whole)
        return (double)(int64_t)(fraction * (double)random->choices) + (double)(int64_t)least;
    return random->has_sign ? (2 * fraction - 1) * random->scale : fraction * random->scale;
}

static Random random_of(const PlanBuffer *buffer, uint64_t seed) {
    double scale = buffer->scale > 0 ? buffer->scale : default_scale(buffer);
    bool has_sign = ptx_type_is_float(buffer->type) || ptx_type_is_signed(buffer->type);
    return (Random){.seed = seed,
                    .choices = (has_sign ? 2 : 1) * (uint64_t)scale + 1,
                    .scale = scale,
                    .is_whole =
                        buffer->whole_numbers || (!ptx_type_is_float(buffer->type) && !buffer->has_range),
                    .has_range = buffer->has_range,
                    .low = buffer->low,
                    .high = buffer->high,
                    .has_sign = has_sign};
}

static Random digits_of(uint64_t seed) {
    return (Random){.seed = seed, .choices = 10, .scale = 9, .is_whole = true};
}

/* The common types have vectorized loops: up to a gigabyte is filled before the first frame. */
static void fill_random(const PlanBuffer *buffer, Random random, uint64_t begin, uint64_t end) {
    RandomNumbers numbers = {.seed = random.seed,
                             .choices = random.choices,
                             .least = random.has_sign ? -(double)(int64_t)random.scale : 0,
                             .scale = random.scale,
                             .is_whole = random.is_whole,
                             .has_sign = random.has_sign};
    if (!random.has_range && loops_fill_random(buffer->type, buffer->bytes, &numbers, begin, end)) return;
    for (uint64_t i = begin; i < end; i++)
        plan_element_set(buffer->type, buffer->bytes, i, random_number(&random, i));
}

/* i * factor + shift modulo count is a permutation where factor and count have no common divisor. */
static void fill_permutation(const PlanBuffer *buffer, uint64_t seed, uint64_t begin, uint64_t end) {
    __extension__ typedef unsigned __int128 Wide;
    uint64_t count = buffer->count, shift = loops_mix(seed) % count,
             factor = (uint64_t)((double)count * 0.6180339887498949) | 1;
    while (number_common_divisor(factor, count) != 1) factor += 2;
    for (uint64_t i = begin; i < end; i++) {
        uint64_t value = (uint64_t)(((Wide)i * factor + shift) % count);
        plan_element_set(buffer->type, buffer->bytes, i, (double)value);
    }
}

static bool fill_from_file(PlanBuffer *buffer, size_t bytes, Error *error) {
    FILE *file = text_open_file(buffer->path);
    if (!file) return error_set_at(error, buffer->path, 0, 0, "cannot open: %s", strerror(errno));
    struct stat status;
    size_t got = 0;
    bool good = fstat(fileno(file), &status) == 0 && S_ISREG(status.st_mode);
    if (good && buffer->path_offset) good = fseek(file, (long)buffer->path_offset, SEEK_SET) == 0;
    if (good) got = fread(buffer->bytes, 1, bytes, file);
    fclose(file);
    if (!good) return error_set_at(error, buffer->path, 0, 0, "not a regular file");
    if (got < bytes)
        return error_set_at(error, buffer->path, 0, 0,
                            "%zu bytes are too few for %s: %llu elements of %s are %zu", got, buffer->name,
                            (unsigned long long)buffer->count, plan_type_name(buffer->type), bytes);
    return true;
}

static void fill_peaks(const PlanBuffer *buffer, uint64_t seed, uint64_t begin, uint64_t end) {
    enum { APART = 199 }; /* a prime: in rows of another width they take one place after the other */
    uint64_t shift = loops_mix(seed) % APART;
    for (uint64_t i = begin; i < end; i++)
        plan_element_set(buffer->type, buffer->bytes, i, (i + shift) % APART ? buffer->low : buffer->high);
}

/* Fills elements begin .. end - 1, each from its index alone. */
static void fill_range(const PlanBuffer *buffer, uint64_t seed, uint64_t begin, uint64_t end) {
    size_t element = (size_t)ptx_type_bytes(buffer->type);
    switch (buffer->fill) {
    case FILL_ONES:
        for (uint64_t i = begin; i < end; i++) plan_element_set(buffer->type, buffer->bytes, i, 1);
        break;
    case FILL_IOTA:
        for (uint64_t i = begin; i < end; i++)
            plan_element_set(buffer->type, buffer->bytes, i,
                             buffer->step != 0 ? buffer->first + (double)i * buffer->step : (double)i);
        break;
    case FILL_PERMUTATION:
        fill_permutation(buffer, seed, begin, end);
        break;
    case FILL_RANDOM:
        fill_random(buffer, random_of(buffer, seed), begin, end);
        break;
    case FILL_DIGITS:
        fill_random(buffer, digits_of(seed), begin, end);
        break;
    case FILL_PEAKS:
        fill_peaks(buffer, seed, begin, end);
        break;
    case FILL_UNWRITTEN: /* a value that is rarely stored by chance */
        memset((uint8_t *)buffer->bytes + begin * element, 0xa5, (size_t)(end - begin) * element);
        break;
    case FILL_CONTENT:
        memcpy((uint8_t *)buffer->bytes + begin * element, (const uint8_t *)buffer->content + begin * element,
               (size_t)(end - begin) * element);
        break;
    case FILL_VALUE:
        for (uint64_t i = begin; i < end; i++)
            memcpy((uint8_t *)buffer->bytes + i * element, buffer->value, element);
        break;
    default: /* zeros, as it comes; files */
        break;
    }
}

enum { PIECE = 1 << 20, MOST_SHARES = 64 }; /* elements; host threads */

typedef struct RangeShare { /* the share of a buffer that a host thread works on, piece by piece */
    const PlanBuffer *buffer;
    void (*work)(const struct RangeShare *share, uint64_t begin, uint64_t end);
    uint64_t seed; /* fills */
    void *copy;    /* copies */
    uint64_t begin, end;
    const atomic_bool *cancel;
    pthread_t thread;
} RangeShare;

static bool is_cancelled(const atomic_bool *cancel) {
    return cancel && *cancel;
}

static void *run_share(void *context) {
    const RangeShare *share = context;
    for (uint64_t begin = share->begin; begin < share->end && !is_cancelled(share->cancel); begin += PIECE)
        share->work(share, begin, share->end - begin < PIECE ? share->end : begin + PIECE);
    return NULL;
}

static int share_count(const Plan *plan, uint64_t pieces) {
    long threads = plan->threads > 0 ? plan->threads : sysconf(_SC_NPROCESSORS_ONLN);
    if (threads > MOST_SHARES) threads = MOST_SHARES;
    return threads < 1 || pieces < 2 ? 1 : (uint64_t)threads < pieces ? (int)threads : (int)pieces;
}

/* Splits the elements among host threads. */
static void share_out(const Plan *plan, const RangeShare *whole) {
    RangeShare shares[MOST_SHARES];
    uint64_t elements = whole->buffer->count, pieces = (elements + PIECE - 1) / PIECE;
    int count = share_count(plan, pieces), started = 0;
    for (int i = 0; i < count; i++) {
        uint64_t end = pieces * (uint64_t)(i + 1) / (uint64_t)count * PIECE;
        shares[i] = *whole;
        shares[i].begin = pieces * (uint64_t)i / (uint64_t)count * PIECE;
        shares[i].end = end < elements ? end : elements;
    }
    while (started + 1 < count && !pthread_create(&shares[started].thread, NULL, run_share, &shares[started]))
        started++;
    for (int i = started; i < count; i++) run_share(&shares[i]);
    for (int i = 0; i < started; i++) pthread_join(shares[i].thread, NULL);
}

static void fill_piece(const RangeShare *share, uint64_t begin, uint64_t end) {
    fill_range(share->buffer, share->seed, begin, end);
}

static void copy_piece(const RangeShare *share, uint64_t begin, uint64_t end) {
    size_t element = (size_t)ptx_type_bytes(share->buffer->type);
    memcpy((uint8_t *)share->copy + begin * element, (const uint8_t *)share->buffer->bytes + begin * element,
           (size_t)(end - begin) * element);
}

static bool fill(const Plan *plan, PlanBuffer *buffer, uint64_t seed, Error *error) {
    if (buffer->fill == FILL_FILE)
        return fill_from_file(buffer, (size_t)buffer->count * (size_t)ptx_type_bytes(buffer->type), error);
    if (buffer->fill == FILL_CONTENT && !buffer->content && buffer->count)
        return error_set(error, "what `%s` held before the run was not kept", buffer->name);
    share_out(plan,
              &(RangeShare){.buffer = buffer, .work = fill_piece, .seed = seed, .cancel = plan->cancel});
    return is_cancelled(plan->cancel) ? error_set(error, "cancelled") : true;
}

void *plan_copy_bytes(const Plan *plan, int index) {
    const PlanBuffer *buffer = &plan->buffers[index];
    void *copy = memory_new((size_t)buffer->count * (size_t)ptx_type_bytes(buffer->type));
    share_out(plan, &(RangeShare){.buffer = buffer, .work = copy_piece, .copy = copy});
    return copy;
}

/* A plan is kept twice, before and after the run. A plan of more than half of the memory would swap or be
 * killed. */
static bool fits_memory(const Plan *plan, Error *error) {
    double bytes = 0;
    double limit = (double)memory_of_machine() / 2;
    for (int i = 0; i < plan->buffer_count; i++)
        bytes += (double)plan->buffers[i].count * ptx_type_bytes(plan->buffers[i].type);
    if (bytes <= limit) return true;
    return error_set(error,
                     "the buffers need %.1f GB and this machine has room for %.1f GB: use a smaller --n",
                     bytes / 1e9, limit / 1e9);
}

const char *plan_fill_name(FillKind fill) {
    static const char *const names[] = {"zero",  "ones",        "iota",      "random",  "digits", "file",
                                        "value", "permutation", "unwritten", "content", "peaks"};
    return names[fill];
}

bool plan_fill_parse(const char *text, size_t length, FillKind *fill, const char **path) {
    static const char FROM_FILE[] = "file:";
    size_t begin = sizeof FROM_FILE - 1;
    *path = length > begin && !memcmp(text, FROM_FILE, begin) ? text + begin : NULL;
    if (*path) length = begin - 1;
    for (int kind = FILL_ZERO; kind <= FILL_VALUE; kind++) {
        const char *name = plan_fill_name((FillKind)kind);
        if (strlen(name) != length || memcmp(name, text, length) != 0) continue;
        *fill = (FillKind)kind;
        return true;
    }
    return false;
}

void plan_fill_print(const PlanBuffer *buffer, Text *out) {
    text_add(out, plan_fill_name(buffer->fill));
    if (buffer->has_range && (buffer->fill == FILL_RANDOM || buffer->fill == FILL_PEAKS))
        text_print(out, "(%.17g,%.17g)", buffer->low, buffer->high);
    if (buffer->fill == FILL_IOTA && buffer->step != 0)
        text_print(out, "(%.17g,%.17g)", buffer->first, buffer->step);
}

bool plan_fill_scan(const char *text, PlanBuffer *buffer) {
    size_t length = strcspn(text, "(");
    double first, second;
    bool has_numbers = text[length] && sscanf(text + length, "(%lf,%lf)", &first, &second) == 2;
    if (text[length] && (!has_numbers || !isfinite(first) || !isfinite(second))) return false;
    for (int kind = FILL_ZERO; kind <= FILL_PEAKS; kind++) {
        const char *name = plan_fill_name((FillKind)kind);
        if (strlen(name) != length || memcmp(name, text, length) != 0) continue;
        buffer->fill = (FillKind)kind;
        bool ranges = kind == FILL_RANDOM || kind == FILL_PEAKS;
        buffer->has_range = has_numbers && ranges;
        if (buffer->has_range) buffer->low = first, buffer->high = second;
        if (has_numbers && kind == FILL_IOTA) buffer->first = first, buffer->step = second;
        return has_numbers ? ranges || kind == FILL_IOTA : kind != FILL_PEAKS;
    }
    return false;
}

bool plan_fill_buffer(Plan *plan, int index, uint64_t seed, Error *error) {
    PlanBuffer *buffer = &plan->buffers[index];
    if (!fits_memory(plan, error)) return false;
    buffer->bytes = memory_new((size_t)buffer->count * (size_t)ptx_type_bytes(buffer->type));
    return fill(plan, buffer, loops_mix(seed) + loops_mix((uint64_t)index), error);
}

bool plan_fill(Plan *plan, uint64_t seed, Error *error) {
    if (!fits_memory(plan, error)) return false;
    for (int i = 0; i < plan->buffer_count; i++)
        if (!plan_fill_buffer(plan, i, seed, error)) return false;
    return true;
}
