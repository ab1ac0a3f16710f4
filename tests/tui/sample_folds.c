#include "sample_folds.h"

#include <stdlib.h>

enum { WORDS = 1024 };

typedef struct Hand { /* the block while its folds are written */
    Folds *folds;
    /* Nodes: of shared words, of each thread's registers. */
    int words[WORDS], loaded[WORDS], far[WORDS], near[WORDS];
    int global_loads;
    SampleFault fault;
} Hand;

static int move(Hand *hand, const TraceEvent *event, int number, int lane, int node) {
    FoldPlace place = {number, event->warp, lane, PTX_S32, event->value[0][lane], event->pc};
    return folds_add_move(hand->folds, &place, node);
}

static void hand_lane(Hand *hand, const TraceEvent *event, int number, int lane) {
    int thread = event->warp * WARP_LANES + lane, word = (int)(event->offset[lane] / 4) % WORDS;
    FoldPlace place = {number, event->warp, lane, PTX_S32, event->value[0][lane], event->pc};
    if (event->kind == TRACE_GLOBAL_LOAD) {
        int input = folds_add_input(hand->folds, &place, 0, event->offset[lane]);
        hand->loaded[thread] = move(hand, event, number, lane, input);
    } else if (event->kind == TRACE_SHARED_STORE && hand->loaded[thread] != FOLD_NONE) {
        bool lost = hand->fault == LOSES_ONE && thread == SAMPLE_FAULTY_LANE;
        hand->words[word] = lost ? FOLD_NONE : hand->loaded[thread];
        hand->loaded[thread] = FOLD_NONE;
    } else if (event->kind == TRACE_SHARED_LOAD && hand->far[thread] == FOLD_NONE) {
        hand->far[thread] = move(hand, event, number, lane, hand->words[word]);
    } else if (event->kind == TRACE_SHARED_LOAD) {
        hand->near[thread] = move(hand, event, number, lane, hand->words[word]);
    } else if (event->kind == TRACE_SHARED_STORE) {
        int far = hand->far[thread], near = hand->near[thread];
        if (hand->fault == FOLDS_TWICE && thread == SAMPLE_FAULTY_LANE) far = near;
        hand->words[word] = far == FOLD_NONE    ? near
                            : near == FOLD_NONE ? far
                                                : folds_add_pair(hand->folds, &place, near, far, FOLD_ADD);
        hand->far[thread] = FOLD_NONE;
    } else if (event->kind == TRACE_GLOBAL_STORE) {
        folds_add_result(hand->folds, &place, event->offset[lane], hand->words[0]);
    }
}

static Folds *fold_by_hand(const TraceBlock *block, SampleFault fault) {
    Hand *hand = calloc(1, sizeof *hand);
    TraceEvent event;
    hand->folds = folds_new();
    hand->fault = fault;
    for (int i = 0; i < WORDS; i++)
        hand->words[i] = hand->loaded[i] = hand->far[i] = hand->near[i] = FOLD_NONE;
    for (int i = 0; i < trace_block_event_count(block) && !hand->folds->result_count; i++) {
        trace_block_read(block, i, &event);
        for (int lane = 0; lane < WARP_LANES; lane++)
            if (event.mask >> lane & 1) hand_lane(hand, &event, i, lane);
    }
    Folds *folds = hand->folds;
    free(hand);
    return folds;
}

static const Folds *folds_of_context(const Session *session, int view) {
    (void)view;
    return (const Folds *)session;
}

void sample_fold(Sample *sample, SampleFault fault, SampleFolds *out) {
    Scene *scene = &sample->scene;
    *out = (SampleFolds){.folds = fold_by_hand(scene->traced.blocks[0].block, fault)};
    scene->traced.trees = out->trees;
    scene->traced.reductions = out->reductions;
    scene->questions.folds = folds_of_context;
    scene->questions.session = (Session *)out->folds;
}

void sample_folds_done(SampleFolds *folds) {
    reduction_free(folds->reductions[0]);
    tree_free(folds->trees[0]);
    folds_free(folds->folds);
}
