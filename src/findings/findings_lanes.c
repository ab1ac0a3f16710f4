/* Sentences about lanes of a warp: undefined values of shuffles, and barriers that some lanes do not
 * reach. */
#include "base/language.h"
#include "findings/findings_sentences.h"

/* What lanes do with "a value that a shuffle left undefined". */
static const char *use_of(TraceUse use) {
    switch (use) {
    case TRACE_USE_STORE:
        return tr("store");
    case TRACE_USE_ADDRESS:
        return tr("access memory by");
    case TRACE_USE_ATOMIC:
        return tr("update memory with");
    case TRACE_USE_BRANCH:
        return tr("branch by");
    case TRACE_USE_GUARD:
        return tr("decide whether to execute an instruction by");
    case TRACE_USE_BARRIER:
        return tr("give to a barrier");
    case TRACE_USE_OPERAND:
        break;
    }
    return tr("use");
}

void findings_describe_undefined(FindingsBuilder *builder, const RacePair *pair, Finding *finding) {
    finding->advice =
        tr("let every lane that is read from execute the shuffle: shuffle before the branch, and "
           "give lanes without an element the identity");
    finding->sentence =
        arena_print(&builder->list->arena,
                    tr("line %d: lanes 0x%08x of warp %d %s a value that the shuffle in line %d leaves "
                       "undefined: it reads a lane that does not take part."),
                    finding->access.line, finding->access.lanes, finding->access.warp, use_of(pair->use),
                    finding->other.line);
}

void findings_describe_early_result(FindingsBuilder *builder, Finding *finding) {
    finding->advice =
        tr("commit the products (wgmma.commit_group) and wait for their group (wgmma.wait_group) "
           "before the result is read");
    finding->sentence =
        arena_print(&builder->list->arena,
                    tr("line %d: lanes 0x%08x of warp %d read the result of the product in line %d, "
                       "which is undefined before wgmma.wait_group."),
                    finding->access.line, finding->access.lanes, finding->access.warp, finding->other.line);
}

void findings_describe_wrapped_index(FindingsBuilder *builder, Finding *finding) {
    finding->advice =
        tr("compute the index in 64 bits: convert the first factor, as in (size_t)row * columns");
    finding->sentence =
        arena_print(&builder->list->arena,
                    tr("line %d: lanes 0x%08x"
                       " of warp %d access memory at an index that depends on the product in line %d. The "
                       "product overflows 32 bits; the access is still within bounds."),
                    finding->access.line, finding->access.lanes, finding->access.warp, finding->other.line);
}

void findings_describe_partial_barrier(FindingsBuilder *builder, const RacePair *pair, Finding *finding) {
    finding->advice = tr("keep every lane until the last barrier: guard the work instead of returning early");
    finding->sentence = arena_print(
        &builder->list->arena,
        tr("line %d: lanes 0x%08x of warp %d pass this barrier after lanes 0x%08x"
           " of the warp have exited. PTX does not wait for exited threads, and an H200 continues; "
           "CUDA C++ requires that every thread of a block reaches a __syncthreads(), or none."),
        finding->access.line, finding->access.lanes, finding->access.warp, pair->other.lanes);
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
    finding->advice =
        tr("include in the mask only lanes that execute the instruction, or have all of them execute it");
    finding->sentence = arena_print(
        &builder->list->arena,
        tr("line %d: lanes 0x%08x of warp %d wait for lanes 0x%08x"
           ", which their mask names, and which skip the instruction and exit. PTX does not wait for exited "
           "threads, and an H200 continues; what these lanes do until they exit comes before the "
           "instruction."),
        finding->access.line, finding->access.lanes, finding->access.warp, pair->other.lanes);
}
