/* CUB and thrust without a GPU: nothing is reduced. $STUB_PEERS_VERSION is the version that it reports;
 * $STUB_PEERS_FAIL: all fail. */
#include "gpu/peers.h"
#include <stdlib.h>

PeersVersion peers_version;
PeersName peers_name;
PeersErrorText peers_error_text;
PeersCub peers_cub;
PeersCubSameBits peers_cub_same_bits;
PeersThrust peers_thrust;

int peers_version(void) {
    const char *version = getenv("STUB_PEERS_VERSION");
    return version ? atoi(version) : PEERS_VERSION;
}

const char *peers_name(void) {
    return "CCCL 0.0";
}

const char *peers_error_text(int result) {
    return result ? "it failed" : "no error";
}

int peers_cub(void *workspace, size_t *bytes, const void *in, void *out, long long count, PeersType type,
              PeersOp op, void *stream) {
    (void)in, (void)out, (void)count, (void)type, (void)op, (void)stream;
    if (!workspace) *bytes = 100;
    return workspace && getenv("STUB_PEERS_FAIL") ? 1 : 0;
}

int peers_cub_same_bits(const void *in, void *out, long long count, PeersType type, void *stream) {
    (void)in, (void)out, (void)count, (void)stream;
    return type == PEERS_INT ? PEERS_LACKS : getenv("STUB_PEERS_FAIL") ? 1 : 0;
}

int peers_thrust(const void *in, void *out, long long count, PeersType type, PeersOp op, void *stream) {
    (void)in, (void)out, (void)count, (void)type, (void)op, (void)stream;
    return getenv("STUB_PEERS_FAIL") ? 1 : 0;
}
