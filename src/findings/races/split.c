/* Searches in several host threads, each with its own detector for its blocks (observer.h). No block sees
 * what blocks of another thread write, so both accesses of a race lie in one part, and the lists are merged
 * in the order of the blocks. A word that blocks of two parts load needs a single-threaded search where it
 * matters (race_detector_was_split). */
#include "findings/races/race_detector.h"

#include <stdlib.h>

void race_detector_make_buffers(RaceDetector *detector) {
    detector->buffer_count = detector->trace->buffer_count;
    detector->buffers = memory_new((size_t)detector->buffer_count * sizeof *detector->buffers);
    detector->is_stored = memory_new((size_t)detector->buffer_count * sizeof *detector->is_stored);
    for (int i = 0; i < detector->buffer_count; i++) detector->buffers[i].bytes_left = &detector->bytes_left;
}

void race_detector_forget_memory(RaceDetector *detector) {
    for (int i = 0; i < detector->buffer_count; i++) shadow_memory_done(&detector->buffers[i]);
    free(detector->buffers);
    free(detector->is_stored);
    detector->buffers = NULL;
    detector->is_stored = NULL;
    while (detector->idle) {
        BlockRaces *block = detector->idle;
        detector->idle = block->next_idle;
        shadow_memory_done(&block->shared);
        block_pattern_done(&block->pattern);
        free(block->cluster.stamps);
        async_copies_done(block);
        happens_before_done(&block->order);
        free(block);
    }
    sync_table_done(&detector->syncs);
    detector->bytes_left = detector->most_bytes;
}

void race_detector_lack_memory(BlockRaces *block) {
    RaceDetector *detector = block->detector;
    detector->is_complete = false;
    block_pattern_drop(&block->pattern);
    if (detector->unseen_serial == detector->serial) return;
    detector->unseen_serial = detector->serial;
    detector->unseen.accesses++;
}

void race_detector_name_unseen(RaceDetector *detector, const UnseenPlace *place) {
    FindingsUnseen *unseen = &detector->unseen;
    for (int i = 0; i < unseen->named_count; i++)
        if (unseen->named[i].launch == place->launch && unseen->named[i].write.pc == place->write.pc) return;
    if (unseen->named_count < UNSEEN_NAMED) unseen->named[unseen->named_count++] = *place;
}

void *race_detector_split(void *context, int parts) {
    const RaceDetector *whole = context;
    RaceDetector *part = memory_new(sizeof *part);
    *part = (RaceDetector){.trace = whole->trace,
                           .launch = whole->launch,
                           .code_count = whole->code_count,
                           .launched = whole->launched,
                           .rules = whole->rules,
                           .written = whole->written,
                           .has_fences = whole->has_fences,
                           .has_strong_stores = whole->has_strong_stores,
                           .orders_atomics = whole->orders_atomics,
                           .has_clusters = whole->has_clusters,
                           .only_cells = whole->only_cells,
                           .forgets = whole->forgets,
                           .has_patterns = whole->has_patterns,
                           .shared_shift = whole->shared_shift,
                           .global_shift = whole->global_shift,
                           .first_block = whole->first_block,
                           .block_count = whole->block_count,
                           .is_complete = true,
                           .bytes_left = whole->bytes_left / (uint64_t)parts,
                           .last_store_pc = -1};
    part->rereads = memory_new((size_t)part->code_count * sizeof *part->rereads);
    race_detector_make_buffers(part);
    return part;
}

static void free_part(RaceDetector *part) {
    race_detector_forget_memory(part);
    free(part->rereads);
    free(part->pairs);
    free(part);
}

/* Adds the pairs of a later part; the first part that found a pair gives its example. */
static void add_pairs(RaceDetector *whole, const RaceDetector *part) {
    for (int i = 0; i < part->pair_count; i++) {
        const RacePair *pair = &part->pairs[i];
        RacePair *same = race_pair_find(whole, pair->kind, pair->access.pc, pair->other.pc);
        if (same) {
            same->count += pair->count;
            same->blocks += pair->blocks;
        } else if (whole->pair_count < MOST_PAIRS) {
            array_push(whole->pairs, whole->pair_count, whole->pair_capacity, *pair);
        } else {
            whole->is_complete = false;
        }
    }
}

static void add_part(RaceDetector *whole, const RaceDetector *part) {
    add_pairs(whole, part);
    whole->unseen.places += part->unseen.places;
    for (int i = 0; i < part->unseen.named_count; i++)
        race_detector_name_unseen(whole, &part->unseen.named[i]);
    for (int pc = 0; pc < whole->code_count; pc++) {
        Reread *reread = &whole->rereads[pc];
        uint64_t loads = reread->loads;
        if (!loads) *reread = part->rereads[pc];
        reread->loads = loads + part->rereads[pc].loads;
    }
    if (part->last_store_pc < 0) return;
    whole->last_store_pc = part->last_store_pc;
    whole->last_store_launch = part->last_store_launch;
}

bool race_detector_join(void *context, void *const *parts, int count, bool keep) {
    RaceDetector *whole = context;
    bool good = keep;
    for (int i = 0; i < count; i++) good &= ((const RaceDetector *)parts[i])->is_complete;
    for (int i = 0; i < count; i++) {
        if (good) add_part(whole, parts[i]);
        free_part(parts[i]);
    }
    whole->was_split |= good;
    return good;
}

bool race_detector_was_split(const RaceDetector *detector) {
    return detector->was_split;
}
