#include "exercise/draw.h"
#include "base/clock.h"

#include <string.h>
#include <time.h>

static uint64_t mix(uint64_t x) {
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* From `low` to `high`; `turn` gives another number of the same seed. */
static uint64_t between(uint64_t seed, uint64_t turn, uint64_t low, uint64_t high) {
    return low + mix((seed + 1) * UINT64_C(0x9e3779b97f4a7c15) + mix(turn)) % (high - low + 1);
}

static bool is_prime(uint64_t n) {
    for (uint64_t by = 2; by * by <= n; by++)
        if (n % by == 0) return false;
    return n > 1;
}

static uint64_t prime_from(uint64_t n) {
    while (!is_prime(n)) n++;
    return n;
}

void draw_sizes(const Exercise *exercise, uint64_t seed, uint64_t sizes[DRAWN_SIZES]) {
    enum { WARP = 32, MANY = 4096 };
    uint64_t least = exercise->sizes[0], most = least;
    for (int i = 1; i < exercise->size_count; i++) {
        if (exercise->sizes[i] < least) least = exercise->sizes[i];
        if (exercise->sizes[i] > most) most = exercise->sizes[i];
    }
    uint64_t middle = most < MANY ? most : MANY, warps = middle / WARP + 1;
    sizes[0] = WARP * between(seed, 1, 1, warps) + 2 * between(seed, 2, 0, 1) - 1;
    sizes[1] = prime_from(between(seed, 3, least, middle));
    uint64_t above =
        most < MANY ? between(seed, 4, 2 * most, 3 * most) : between(seed, 4, most + 1, most + most / 8);
    sizes[2] = above / 4 * 4 + 2 + 4 * (above / 4 * 4 + 2 <= most);
}

uint64_t draw_seed(void) {
    double now = clock_seconds();
    uint64_t bits;
    memcpy(&bits, &now, sizeof bits);
    return between(bits, (uint64_t)time(NULL), 1, 999999);
}
