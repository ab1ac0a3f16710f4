#define _DEFAULT_SOURCE
#include "gpu/peers.h"
#include "base/self.h"
#include "base/library.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *open_beside_program(const char *relative) {
    char program[PATH_MAX], path[2 * PATH_MAX];
    char *slash = self_path(program, sizeof program) ? strrchr(program, '/') : NULL;
    if (!slash) return NULL;
    snprintf(path, sizeof path, "%.*s/%s", (int)(slash - program), program, relative);
    return library_open(path);
}

bool peers_open(Peers *peers) {
    const char *name = getenv("REDVIZ_PEERS");
    *peers = (Peers){0};
    if (name && *name) {
        peers->library = library_open(name);
    } else {
        peers->library = open_beside_program("libredviz_peers.so");
        if (!peers->library) peers->library = open_beside_program("../lib/libredviz_peers.so");
    }
    if (!peers->library) return false;
    *(void **)(void *)&peers->peers_version = dlsym(peers->library, "peers_version");
    *(void **)(void *)&peers->peers_name = dlsym(peers->library, "peers_name");
    *(void **)(void *)&peers->peers_error_text = dlsym(peers->library, "peers_error_text");
    *(void **)(void *)&peers->peers_cub = dlsym(peers->library, "peers_cub");
    *(void **)(void *)&peers->peers_cub_same_bits = dlsym(peers->library, "peers_cub_same_bits");
    *(void **)(void *)&peers->peers_thrust = dlsym(peers->library, "peers_thrust");
    if (peers->peers_version && peers->peers_version() == PEERS_VERSION && peers->peers_name &&
        peers->peers_error_text && peers->peers_cub && peers->peers_cub_same_bits && peers->peers_thrust)
        return true;
    peers_close(peers);
    return false;
}

void peers_close(Peers *peers) {
    if (peers->library) dlclose(peers->library);
    *peers = (Peers){0};
}
