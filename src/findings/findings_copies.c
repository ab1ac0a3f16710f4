/* Sentences about asynchronous copies that are disturbed in flight or never waited for. */
#include "base/language.h"
#include "findings/findings_sentences.h"
#include "ptx/opcodes.h"

/* What a thread must wait for before it may use the copy of this instruction. */
static const char *wait_of(const TraceLaunch *launch, int pc, bool only_read) {
    const PtxInstruction *in = launch->program->code[pc].instruction;
    if (ptx_asynchronous(in) == PTX_ASYNC_COPY) return "cp.async.wait_group";
    if (in->opcode == PTX_wgmma) return "wgmma.wait_group";
    if (!ptx_instruction_has(in, PTX_MOD_BULK_GROUP)) return tr("the phase of its mbarrier is complete");
    return only_read ? "cp.async.bulk.wait_group.read" : "cp.async.bulk.wait_group";
}

/* "line 30: warp 0 lane 3 loads tile[3] (7), read before cp.async.wait_group: line 24 copies it
 * asynchronously". */
void findings_add_early(const RacePair *pair, const TraceLaunch *launch, const Finding *finding, Text *out) {
    const FindingAccess *access = &finding->access, *copy = &finding->other;
    bool reads = pair->kind == FINDING_ASYNC_READ;
    finding_begin_place(access, out);
    findings_add_access(access, !pair->is_same_block, finding->what, out);
    text_print(out, reads ? tr(", read before %s") : tr(", written before %s"),
               wait_of(launch, copy->pc, pair->is_source));
    if (launch->program->code[copy->pc].instruction->opcode == PTX_wgmma) {
        text_print(out, tr(": line %d multiplies it asynchronously ("), copy->line);
        findings_add_thread(copy, !pair->is_same_block, out);
        text_add(out, tr("), and the product may not have read it yet: either value may be used"));
        return;
    }
    text_print(out,
               pair->is_source ? tr(": line %d copies from it asynchronously (")
                               : tr(": line %d copies to it asynchronously ("),
               copy->line);
    findings_add_thread(copy, !pair->is_same_block, out);
    text_add(out, pair->is_source ? tr("), and the copy may not have read it yet")
                                  : tr("), and the copy may not have arrived yet"));
    text_add(out, reads             ? tr(": the value loaded is undefined")
                  : pair->is_source ? tr(": either value may be copied")
                                    : tr(": either value may remain"));
}

const char *findings_advice_for_early(const TraceLaunch *launch, int copy, bool is_source) {
    const PtxInstruction *in = launch->program->code[copy].instruction;
    if (ptx_asynchronous(in) == PTX_ASYNC_COPY)
        return tr(
            "commit the copies (cp.async.commit_group), wait for their group (cp.async.wait_group) in the "
            "thread "
            "that issued them, then synchronize the block before other threads use them");
    if (in->opcode == PTX_wgmma)
        return tr(
            "commit the products (wgmma.commit_group) and wait for their group (wgmma.wait_group), then "
            "synchronize the threads, before the tile is written again");
    if (ptx_instruction_has(in, PTX_MOD_BULK_GROUP))
        return is_source
                   ? tr("commit the copy (cp.async.bulk.commit_group) and wait for its group "
                        "(cp.async.bulk.wait_group) before "
                        "its memory is used again")
                   : tr("commit the copy (cp.async.bulk.commit_group) and wait for its group "
                        "(cp.async.bulk.wait_group; with .read it waits for the source only) before what it "
                        "writes is used");
    return tr(
        "expect its bytes (mbarrier.arrive.expect_tx) and wait for the phase that they complete, with the "
        "parity of that phase, in every thread that uses them, again until the wait gives true: it may give "
        "up before");
}

void findings_describe_left(FindingsBuilder *builder, Finding *finding) {
    const TraceLaunch *launch = builder->trace->launches[finding->launch];
    const FindingAccess *access = &finding->access;
    bool committed = finding->kind == FINDING_COPY_NOT_AWAITED;
    const PtxInstruction *in = launch->program->code[access->pc].instruction;
    const char *commit = in->opcode == PTX_wgmma                 ? "wgmma.commit_group"
                         : ptx_instruction_has(in, PTX_MOD_BULK) ? "cp.async.bulk.commit_group"
                                                                 : "cp.async.commit_group";
    finding->advice = committed ? tr("wait for every group, or phase, before the thread ends")
                                : tr("end the copies of a group with a commit, then wait for the group");
    finding->sentence =
        committed
            ? arena_print(
                  &builder->list->arena,
                  tr("line %d: the block ends, and no thread has waited for the copy of warp %d lane %d "
                     "(not before %s)."),
                  access->line, access->warp, access->lane, wait_of(launch, access->pc, false))
            : arena_print(&builder->list->arena,
                          tr("line %d: the copy of warp %d lane %d is in no group: no %s "
                             "follows it, so no wait_group waits for it."),
                          access->line, access->warp, access->lane, commit);
}
