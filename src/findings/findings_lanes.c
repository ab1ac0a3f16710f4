/* Sentences about lanes of a warp: undefined values of shuffles, and barriers that some lanes do not
 * reach. */
#include "base/language.h"
#include "base/sentence.h"
#include "findings/findings_sentences.h"

/* What happens to "a value that a shuffle leaves undefined". */
static const char *use_of(TraceUse use) {
    switch (use) {
    case TRACE_USE_STORE:
        return tr("is stored");
    case TRACE_USE_ADDRESS:
        return tr("is part of an address");
    case TRACE_USE_ATOMIC:
        return tr("is an atomic's operand");
    case TRACE_USE_BRANCH:
        return tr("decides a branch");
    case TRACE_USE_GUARD:
        return tr("decides whether an instruction is executed");
    case TRACE_USE_BARRIER:
        return tr("is part of a barrier's result");
    case TRACE_USE_OPERAND:
        break;
    }
    return tr("is used");
}

void findings_describe_undefined(FindingsBuilder *builder, const RacePair *pair, Finding *finding) {
    LanesText lanes;
    finding->advice =
        tr("let every lane that is read from execute the shuffle: shuffle before the branch, and "
           "give lanes without an element the identity");
    finding->sentence =
        arena_print(&builder->list->arena,
                    tr("line %d: in %s of warp %d, a value that the shuffle in line %d leaves undefined %s: "
                       "the shuffle reads a lane that does not take part."),
                    finding->access.line, lanes_text(finding->access.lanes, &lanes), finding->access.warp,
                    finding->other.line, use_of(pair->use));
}

void findings_describe_early_result(FindingsBuilder *builder, Finding *finding) {
    LanesText lanes;
    finding->advice =
        tr("commit the products (wgmma.commit_group) and wait for their group (wgmma.wait_group) "
           "before the result is read");
    finding->sentence = arena_print(
        &builder->list->arena,
        tr("line %d: in %s of warp %d, the result of the product in line %d is read; it is undefined before "
           "wgmma.wait_group."),
        finding->access.line, lanes_text(finding->access.lanes, &lanes), finding->access.warp,
        finding->other.line);
}

void findings_describe_wrapped_index(FindingsBuilder *builder, Finding *finding) {
    LanesText lanes;
    finding->advice =
        tr("compute the index in 64 bits: convert the first factor, as in (size_t)row * columns");
    finding->sentence = arena_print(
        &builder->list->arena,
        tr("line %d: in %s of warp %d, the index of this access depends on the product in line %d. The "
           "product overflows 32 bits; the access is still within bounds."),
        finding->access.line, lanes_text(finding->access.lanes, &lanes), finding->access.warp,
        finding->other.line);
}

void findings_describe_partial_barrier(FindingsBuilder *builder, const RacePair *pair, Finding *finding) {
    LanesText lanes, exited;
    finding->advice = tr("keep every lane until the last barrier: guard the work instead of returning early");
    finding->sentence =
        arena_print(&builder->list->arena,
                    tr("line %d: this barrier is passed by %s of warp %d after the exit of %s"
                       " of the warp. PTX does not wait for exited threads, and an H200 continues; "
                       "CUDA C++ requires that every thread of a block reaches a __syncthreads(), or none."),
                    finding->access.line, lanes_text(finding->access.lanes, &lanes), finding->access.warp,
                    lanes_text(pair->other.lanes, &exited));
}

void findings_describe_split_barrier(FindingsBuilder *builder, Finding *finding) {
    finding->advice = tr("take the barrier out of the branch or the loop, so that all threads of the block "
                         "reach the same one");
    finding->sentence = arena_print(
        &builder->list->arena,
        tr("line %d: warp %d waits at this barrier while warp %d waits at the one in line %d, and both go "
           "on. "
           "PTX only counts who arrives; CUDA C++ requires that all threads of a block reach the same "
           "__syncthreads(), or none."),
        finding->access.line, finding->access.warp, finding->other.warp, finding->other.line);
}

void findings_describe_passed_by(FindingsBuilder *builder, const RacePair *pair, Finding *finding) {
    LanesText lanes, exited;
    finding->advice =
        tr("include in the mask only lanes that execute the instruction, or have all of them execute it");
    finding->sentence = arena_print(
        &builder->list->arena,
        tr("line %d: %s of warp %d must wait for %s"
           ", which the mask names and which exited without this instruction. PTX does not wait for exited "
           "threads, and an H200 continues; what they do until they exit comes before the instruction."),
        finding->access.line, lanes_text(finding->access.lanes, &lanes), finding->access.warp,
        lanes_text(pair->other.lanes, &exited));
}
