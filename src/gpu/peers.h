/* Peers: the reductions of NVIDIA's libraries, which the ladder is compared with: CUB's DeviceReduce and
 * thrust::reduce, by way of a library of ours that `make peers` builds where nvcc is (peers.cu).
 *
 * The functions are the library's; they run in the calling thread's current context. Results are CUDA's own
 * error numbers. */
#ifndef GPU_PEERS_H
#define GPU_PEERS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { PEERS_VERSION = 1 };
typedef enum PeersType { PEERS_INT, PEERS_FLOAT, PEERS_DOUBLE } PeersType;
typedef enum PeersOp { PEERS_SUM, PEERS_MIN, PEERS_MAX } PeersOp;

/* What it was built with: PEERS_VERSION, and "CCCL 3.0". */
typedef int PeersVersion(void);
typedef const char *PeersName(void);
typedef const char *PeersErrorText(int result);

/* Enqueues the reduction of `count` elements at `in` to one at `out`, all on the device. With `workspace`
 * NULL nothing is done but to say in *bytes how much of it is needed. */
typedef int PeersCub(void *workspace, size_t *bytes, const void *in, void *out, long long count,
                     PeersType type, PeersOp op, void *stream);
/* The same to `out` on the host, as a caller of thrust does it: takes device memory as it needs, and waits. */
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
    PeersThrust *peers_thrust;
} Peers;

/* $REDVIZ_PEERS, or libredviz_peers.so beside the program or in ../lib. false where it is not, or not this
 * version of it. */
bool peers_open(Peers *peers);
void peers_close(Peers *peers);

#endif
#endif
