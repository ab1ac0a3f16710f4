/* Vector clocks: joined, changed in place and shared, against a table of stamps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "findings/races/vector_clock.h"
#include <string.h>

enum { CLOCKS = 6, BLOCKS = 5, THREADS = 4, ROUNDS = 20000 };

typedef struct Table { /* [block][thread], the last thread: the whole block */
    uint32_t stamps[BLOCKS][THREADS + 1];
} Table;

static uint32_t number_of(int thread) {
    return thread == THREADS ? VECTOR_CLOCK_WHOLE_BLOCK : (uint32_t)thread * 33;
}

static uint32_t roll(uint64_t *seed, uint32_t below) {
    *seed = *seed * 0x5851f42d4c957f2du + 0x14057b7ef767814fu;
    return (uint32_t)(*seed >> 33) % below;
}

static void join_table(Table *to, const Table *from) {
    for (int b = 0; b < BLOCKS; b++)
        for (int t = 0; t <= THREADS; t++)
            if (from->stamps[b][t] > to->stamps[b][t]) to->stamps[b][t] = from->stamps[b][t];
}

static void check(const VectorClock *clock, const Table *table) {
    for (int b = 0; b < BLOCKS; b++) {
        bool has = false;
        for (int t = 0; t <= THREADS; t++) {
            uint32_t own = table->stamps[b][t], whole = table->stamps[b][THREADS];
            has |= own != 0;
            assert_int_equal(vector_clock_find(clock, (uint32_t)b, number_of(t)), own > whole ? own : whole);
        }
        assert_int_equal(vector_clock_has(clock, (uint32_t)b), has);
    }
}

static void add_some(VectorClock **clock, Table *table, uint64_t *seed) {
    VectorClockEntry entries[BLOCKS * (THREADS + 1)];
    int count = 0;
    for (int b = 0; b < BLOCKS; b++)
        for (int t = 0; t <= THREADS; t++) {
            uint32_t stamp = 1 + roll(seed, 50);
            if (roll(seed, 6)) continue;
            entries[count++] = (VectorClockEntry){(uint32_t)b, number_of(t), stamp};
            if (stamp > table->stamps[b][t]) table->stamps[b][t] = stamp;
        }
    vector_clock_add(clock, entries, count);
}

static void forget(VectorClock **clock, Table *table, uint64_t *seed) {
    uint32_t block = roll(seed, BLOCKS), stamp = roll(seed, 50);
    vector_clock_forget(clock, block, stamp);
    for (int t = 0; t <= THREADS; t++)
        if (table->stamps[block][t] <= stamp) table->stamps[block][t] = 0;
}

static void clocks_agree_with_a_table(void **state) {
    (void)state;
    VectorClock *clocks[CLOCKS] = {NULL};
    Table tables[CLOCKS] = {0};
    ClockJoin row = {0};
    uint64_t seed = 5;
    for (int r = 0; r < ROUNDS; r++) {
        uint32_t to = roll(&seed, CLOCKS), from = roll(&seed, CLOCKS);
        switch (roll(&seed, 7)) {
        case 0:
            add_some(&clocks[to], &tables[to], &seed);
            break;
        case 1:
            vector_clock_join(&clocks[to], clocks[from]);
            join_table(&tables[to], &tables[from]);
            break;
        case 2:
        case 3:
            clock_join_again(&row, &clocks[to], clocks[from]);
            join_table(&tables[to], &tables[from]);
            break;
        case 4:
            forget(&clocks[to], &tables[to], &seed);
            break;
        case 5:
            vector_clock_replace(&clocks[to], roll(&seed, 2) ? vector_clock_keep(clocks[from]) : NULL);
            tables[to] = clocks[to] ? tables[from] : (Table){0};
            break;
        default:
            clock_join_done(&row);
        }
        for (int c = 0; c < CLOCKS; c++) check(clocks[c], &tables[c]);
    }
    clock_join_done(&row);
    for (int c = 0; c < CLOCKS; c++) vector_clock_drop(clocks[c]);
}

static void the_same_join_gives_the_same_clock(void **state) {
    (void)state;
    VectorClock *words[3] = {NULL}, *other = NULL;
    ClockJoin row = {0};
    VectorClockEntry first = {1, 0, 4}, second = {2, 0, 6}, third = {3, 0, 8};
    vector_clock_add(&words[0], &first, 1);
    words[1] = vector_clock_keep(words[0]);
    vector_clock_add(&words[2], &third, 1);
    vector_clock_add(&other, &second, 1);
    for (int i = 0; i < 3; i++) clock_join_again(&row, &words[i], other);
    assert_ptr_equal(words[0], words[1]);
    assert_ptr_not_equal(words[0], words[2]); /* it knew something else */
    assert_int_equal(vector_clock_find(words[0], 1, 0), 4);
    assert_int_equal(vector_clock_find(words[1], 2, 0), 6);
    assert_int_equal(vector_clock_find(words[2], 3, 0), 8);
    vector_clock_add(&words[1], &third, 1); /* a shared clock does not change */
    assert_int_equal(vector_clock_find(words[0], 3, 0), 0);
    clock_join_done(&row);
    for (int i = 0; i < 3; i++) vector_clock_drop(words[i]);
    vector_clock_drop(other);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clocks_agree_with_a_table),
        cmocka_unit_test(the_same_join_gives_the_same_clock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
