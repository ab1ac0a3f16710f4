/* Peers: the reductions of NVIDIA's libraries, for comparison with the ladder: CUB's DeviceReduce, its sum of
 * the same bits on every GPU, and thrust::reduce. `make peers` builds the library with nvcc (peers.cu).
 *
 * The functions below belong to that library and run in the calling thread's current context. They return
 * CUDA error numbers. */
#ifndef GPU_PEERS_H
#define GPU_PEERS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { PEERS_VERSION = 3 };
typedef enum PeersType { PEERS_INT, PEERS_FLOAT, PEERS_DOUBLE, PEERS_HALF } PeersType;
typedef enum PeersOp { PEERS_SUM, PEERS_MIN, PEERS_MAX, PEERS_ARGMAX } PeersOp;

/* The version it was built with: PEERS_VERSION, and "CCCL 3.0". */
typedef int PeersVersion(void);
typedef const char *PeersName(void);
typedef const char *PeersErrorText(int result);

/* Enqueues the reduction of `count` elements at `in` to one at `out`, all on the device; of PEERS_ARGMAX to
 * that element and, 8 bytes behind it, its index in 8 bytes. With `workspace` NULL, only sets *bytes to the
 * size that it needs. */
typedef int PeersCub(void *workspace, size_t *bytes, const void *in, void *out, long long count,
                     PeersType type, PeersOp op, void *stream);
/* The sum of floats or doubles with the same bits on every GPU (CUB's determinism "gpu_to_gpu"); takes its
 * workspace in the stream. PEERS_LACKS: this CCCL has none of this type (before 3.2, or of ints). */
enum { PEERS_LACKS = 801 }; /* cudaErrorNotSupported */
typedef int PeersCubSameBits(const void *in, void *out, long long count, PeersType type, void *stream);
/* The same as PeersCub to `out` on the host, as callers use thrust: allocates device memory as needed, and
 * waits. */
typedef int PeersThrust(const void *in, void *out, long long count, PeersType type, PeersOp op, void *stream);

#ifdef __cplusplus
}
#else

#include "base/error.h"

typedef struct Peers {
    void *library;
    PeersVersion *peers_version;
    PeersName *peers_name;
    PeersErrorText *peers_error_text;
    PeersCub *peers_cub;
    PeersCubSameBits *peers_cub_same_bits;
    PeersThrust *peers_thrust;
} Peers;

/* Opens $REDVIZ_PEERS, or libredviz_peers.so next to the program or in ../lib. False if it is missing or has
 * another version. */
bool peers_open(Peers *peers);
void peers_close(Peers *peers);

#endif
#endif
