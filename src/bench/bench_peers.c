/* Measures CUB and thrust for comparison with the ladder (gpu/peers.h): the same sizes and types, always to
 * one number. */
#include "gpu/peers.h"
#include "gpu/run.h"
#include "bench/gpu_bench.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct Peer Peer;
typedef bool (*PeerCall)(const Peer *peer, int set, Error *error);

struct Peer { /* a cell */
    const Bench *bench;
    const Peers *peers;
    PeersType type;
    PeersOp op;
    long long count;
    GpuRun run; /* its buffers: the input, `sets` times; the result; CUB's workspace */
    int sets;
    size_t workspace_bytes;
    PeerCall call;
};

static const struct {
    const char *name;
    PeersOp op;
} ops[] = {{"sum", PEERS_SUM}, {"min", PEERS_MIN}, {"max", PEERS_MAX}, {"argmax", PEERS_ARGMAX}};

static void *buffer(const Peer *peer, int index) {
    return (void *)(uintptr_t)peer->run.buffers[index].address;
}

static bool check(const Peer *peer, const char *name, int result, Error *error) {
    return !result || error_set(error, "%s: %s", name, peer->peers->peers_error_text(result));
}

static bool call_cub(const Peer *peer, int set, Error *error) {
    size_t bytes = peer->workspace_bytes;
    int result = peer->peers->peers_cub(buffer(peer, peer->sets + 1), &bytes, buffer(peer, set),
                                        buffer(peer, peer->sets), peer->count, peer->type, peer->op,
                                        peer->bench->cuda->stream);
    return check(peer, "cub", result, error);
}

static bool call_same_bits(const Peer *peer, int set, Error *error) {
    int result = peer->peers->peers_cub_same_bits(buffer(peer, set), buffer(peer, peer->sets), peer->count,
                                                  peer->type, peer->bench->cuda->stream);
    return check(peer, "cub, same bits", result, error);
}

static bool call_thrust(const Peer *peer, int set, Error *error) {
    uint64_t out[2];
    int result = peer->peers->peers_thrust(buffer(peer, set), out, peer->count, peer->type, peer->op,
                                           peer->bench->cuda->stream);
    return check(peer, "thrust", result, error);
}

static bool repeat(void *context, int set, Error *error) {
    const Peer *peer = context;
    return peer->call(peer, set, error);
}

static bool prepare(Peer *peer, size_t bytes, Error *error) {
    Cuda *cuda = peer->bench->cuda;
    peer->sets = bench_choose_sets(peer->bench, bytes, error);
    if (!peer->sets) return false;
    int result = peer->peers->peers_cub(NULL, &peer->workspace_bytes, NULL, NULL, peer->count, peer->type,
                                        peer->op, cuda->stream);
    if (!check(peer, "cub", result, error)) return false;
    for (int i = 0; i < peer->sets; i++)
        if (gpu_run_add_buffer(&peer->run, NULL, bytes, error) < 0) return false;
    return gpu_run_add_buffer(&peer->run, NULL, 2 * sizeof(double), error) >= 0 &&
           gpu_run_add_buffer(&peer->run, NULL, peer->workspace_bytes, error) >= 0 &&
           gpu_run_upload(&peer->run, error);
}

/* Calls the function once before, to load its kernels: a graph capture must not load any. */
static bool measure(Peer *peer, PeerCall call, const char *name, const char *note, uint64_t n, PtxType type,
                    Error *error) {
    const Bench *bench = peer->bench;
    BenchTimes times;
    BenchWork work = {.work = repeat,
                      .context = peer,
                      .sets = peer->sets,
                      .bytes = n * (uint64_t)ptx_type_bytes(type),
                      .has_graph = call != call_thrust,
                      .seconds = bench_seconds(bench->options)};
    Timing of = bench_timing(name, bench->machine.name, bench->measured, n, type, ops[peer->op].name);
    of.to_scalar = true;
    of.note = note;
    peer->call = call;
    bench_send_cell(bench->sink, name, n);
    if (!call(peer, 0, error) || !cuda_wait(bench->cuda, 20, name, error) ||
        !bench_time(bench, &work, &times, error))
        return false;
    bench_send_times(bench, &work, &times, of);
    return true;
}

static bool has_same_bits(const Peer *peer) {
    return peer->op == PEERS_SUM && (peer->type == PEERS_FLOAT || peer->type == PEERS_DOUBLE);
}

/* Not every version of CUB has it. */
static bool measure_same_bits(Peer *peer, const char *name, uint64_t n, PtxType type, Error *error) {
    if (!has_same_bits(peer)) return true;
    int result = peer->peers->peers_cub_same_bits(buffer(peer, 0), buffer(peer, peer->sets), peer->count,
                                                  peer->type, peer->bench->cuda->stream);
    return result == PEERS_LACKS || measure(peer, call_same_bits, "cub, same bits", name, n, type, error);
}

static void send_skipped(const Peer *peer, const char *name, uint64_t n, PtxType type, const char *why) {
    const Bench *bench = peer->bench;
    Timing of = bench_timing(name, bench->machine.name, bench->measured, n, type, ops[peer->op].name);
    of.to_scalar = true;
    of.note = why;
    bench_send_timing(bench->sink, &of);
}

static bool measure_cell(const Bench *bench, const Peers *peers, uint64_t n, PtxType type, PeersOp op,
                         Error *error) {
    Peer *peer = memory_new(sizeof *peer);
    Error refused = {0};
    const char *name = peers->peers_name();
    bool good = true;
    *peer = (Peer){.bench = bench,
                   .run = {.cuda = bench->cuda},
                   .peers = peers,
                   .type = type == PTX_S32   ? PEERS_INT
                           : type == PTX_F32 ? PEERS_FLOAT
                           : type == PTX_F16 ? PEERS_HALF
                                             : PEERS_DOUBLE,
                   .op = op,
                   .count = (long long)n};
    if (prepare(peer, n * (size_t)ptx_type_bytes(type), &refused)) {
        char waits[160];
        snprintf(waits, sizeof waits, "%s; takes memory and waits, so that it cannot be in a graph", name);
        good = measure(peer, call_cub, "cub", name, n, type, error) &&
               measure_same_bits(peer, name, n, type, error) &&
               measure(peer, call_thrust, "thrust", waits, n, type, error);
    } else {
        send_skipped(peer, "cub", n, type, refused.message);
        if (has_same_bits(peer)) send_skipped(peer, "cub, same bits", n, type, refused.message);
        send_skipped(peer, "thrust", n, type, refused.message);
    }
    gpu_run_end(&peer->run);
    free(peer);
    return good;
}

static bool find_op(const BenchOptions *options, PeersOp *op) {
    const char *wanted = options->catalog.op ? options->catalog.op : "sum";
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        *op = ops[i].op;
        if (!strcmp(ops[i].name, wanted)) return true;
    }
    return false;
}

bool bench_peers(const Bench *bench, Error *error) {
    PtxType types[BENCH_TYPES];
    uint64_t sizes[BENCH_SIZES];
    Peers peers;
    PeersOp op;
    int type_count = bench_list_reductions(bench->options, types, error),
        size_count = bench_list_sizes(bench->options, sizes);
    if (type_count < 0) return false;
    if (!type_count || !find_op(bench->options, &op) || !peers_open(&peers)) return true;
    bool good = true;
    for (int t = 0; good && t < type_count; t++)
        for (int i = 0; good && i < size_count; i++)
            good = bench_may_go_on(bench->options, error) &&
                   measure_cell(bench, &peers, sizes[i], types[t], op, error);
    peers_close(&peers);
    return good;
}
