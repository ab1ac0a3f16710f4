/* Weights and producers of memory and of events, against a model by byte and lane. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "emulator/replay/event_provenance.h"
#include "emulator/replay/provenance.h"
#include <stdlib.h>
#include <string.h>

static uint64_t random_state = 88172645463325252u;
static uint32_t any(uint32_t below) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)(random_state >> 20) % below;
}

/* ---- memory -------------------------------------------------------------------------------------------- */

enum { MEMORY_BYTES = 8192, WRITES = 60000 };

typedef struct Element {
    uint32_t weight;
    int32_t producer;
} Element;

typedef struct Model {
    Element elements[WRITES];
    int count;
    int owner[MEMORY_BYTES + 8]; /* the element that each byte belongs to, from 1; 0: none */
} Model;

/* Overlapped elements lose their bytes from there on. */
static void model_write(Model *model, uint32_t at, uint32_t bytes, Element element) {
    for (uint32_t i = at; i < at + bytes; i++) {
        int old = model->owner[i];
        for (uint32_t k = i; old && model->owner[k] == old; k++) model->owner[k] = 0;
    }
    model->elements[model->count++] = element;
    for (uint32_t i = at; i < at + bytes; i++) model->owner[i] = model->count;
}

static bool model_read(const Model *model, uint32_t at, uint32_t bytes, Element *out) {
    int last = 0;
    *out = (Element){0, -1};
    for (uint32_t i = at; i < at + bytes; i++) {
        if (!model->owner[i] || model->owner[i] == last) continue;
        last = model->owner[i];
        const Element *element = &model->elements[last - 1];
        out->weight = weight_sum(out->weight, element->weight);
        if (element->producer > out->producer) out->producer = element->producer;
    }
    return last != 0;
}

/* Elements of `sizes`, a set of 1, 2, 4 and 8, each where its size allows. */
static void check_memory(unsigned sizes, uint64_t first, int writes) {
    Model *model = calloc(1, sizeof *model);
    ProvenanceMemory *memory = provenance_memory_new();
    for (int i = 0; i < writes; i++) {
        uint32_t bytes = 1u << any(4);
        while (!(sizes & bytes)) bytes = 1u << any(4);
        uint32_t room = any(2) ? 64 : MEMORY_BYTES, at = any(room / bytes) * bytes;
        Element element = {any(20) ? any(1000) : UINT32_MAX - any(3), (int32_t)any(100000) - 1};
        model_write(model, at, bytes, element);
        provenance_memory_write(memory, first + at, (int)bytes, element.weight, element.producer);
        for (int k = 0; k < 4; k++) {
            uint32_t width = 1u << any(4), from = k ? any(room / width) * width : at / width * width;
            Element expected, found = {77, 77};
            bool there = model_read(model, from, width, &expected);
            assert_int_equal(
                provenance_memory_read(memory, first + from, (int)width, &found.weight, &found.producer),
                there);
            assert_int_equal(found.weight, expected.weight);
            assert_int_equal(found.producer, expected.producer);
        }
    }
    provenance_memory_free(memory);
    free(model);
}

static void test_memory(void **state) {
    (void)state;
    check_memory(4, 1 << 20, 4000);
    check_memory(8, 0, 4000);
    check_memory(1, UINT64_C(3) << 40, 4000);
    check_memory(15, 0, WRITES / 3);
    check_memory(12, UINT64_C(1) << 33, WRITES / 6);
    check_memory(9, 4096, WRITES / 6);
}

/* ---- events -------------------------------------------------------------------------------------------- */

static void any_element(ElementProvenance *element) {
    uint32_t shape = any(4), weight = any(50), producer = any(5000);
    for (int lane = 0; lane < WARP_LANES; lane++) {
        element->weight[lane] = shape & 1 ? any(50) : weight;
        element->producer[lane] = (int32_t)(shape & 2 ? any(5000) : producer) - 1;
    }
}

static void test_events(void **state) {
    (void)state;
    enum { EVENTS = 2000 };
    typedef struct Kept {
        uint32_t mask;
        int count, shown;
        ElementProvenance elements[MAX_PROVENANCE_ELEMENTS];
    } Kept;
    Kept *kept = calloc(EVENTS, sizeof *kept);
    EventProvenance *events = event_provenance_new(EVENTS);
    for (int i = 0; i < EVENTS; i++) {
        kept[i].mask = any(3) ? any(2) ? ~UINT32_C(0) : 1u << any(32) : any(UINT32_MAX);
        kept[i].count = 1 + (int)any(MAX_PROVENANCE_ELEMENTS);
        kept[i].shown = (int)any((uint32_t)kept[i].count + 1);
        for (int e = 0; e < kept[i].count; e++) any_element(&kept[i].elements[e]);
        if (i % 7 == 3) kept[i].count = 0, kept[i].shown = 0; /* nothing of it is kept */
        if (i % 7 == 4) kept[i].mask = 0;
        if (kept[i].count)
            event_provenance_add(events, i, kept[i].mask, kept[i].elements, kept[i].count, kept[i].shown);
    }
    for (int k = 0; k < 2 * EVENTS; k++) {
        int i = k < EVENTS ? k : (int)any(EVENTS);
        ElementProvenance read[MAX_PROVENANCE_ELEMENTS];
        event_provenance_clear(read, MAX_PROVENANCE_ELEMENTS);
        bool there = kept[i].count && kept[i].mask;
        assert_int_equal(event_provenance_read(events, i, read, MAX_PROVENANCE_ELEMENTS), there);
        const ReplayEventProvenance *all = provenance_of_event(events, i);
        for (int lane = 0; lane < WARP_LANES; lane++) {
            bool active = there && kept[i].mask >> lane & 1;
            uint32_t weight = 0;
            int32_t producer = -1;
            for (int e = 0; e < MAX_PROVENANCE_ELEMENTS; e++) {
                bool has = active && e < kept[i].count;
                const ElementProvenance *element = &kept[i].elements[e];
                assert_int_equal(read[e].weight[lane], has ? element->weight[lane] : 0);
                assert_int_equal(read[e].producer[lane], has ? element->producer[lane] : -1);
                if (!has || e >= kept[i].shown) continue;
                weight += element->weight[lane];
                if (element->producer[lane] > producer) producer = element->producer[lane];
            }
            assert_int_equal(all->weight[lane], weight);
            assert_int_equal(all->producer[lane], producer);
        }
    }
    event_provenance_free(events);
    free(kept);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_memory), cmocka_unit_test(test_events)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
