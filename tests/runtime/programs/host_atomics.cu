/* Threads of the host and of the device update the same words of managed and of pinned memory. */
#include <cstdio>
#include <cstring>
#include <thread>

enum { ROUNDS = 500, BLOCKS = 4, THREADS = 64, HOST_THREADS = 2, MOST_HOST_ADDS = 7000000 };
enum { DEVICE_ADDS = ROUNDS * BLOCKS * THREADS };

struct Counters {
    int sum;
    unsigned long long wide;
    float real; /* whole numbers below 2^24 */
    unsigned claims;
};

__global__ void add(Counters *counters) {
    for (int i = 0; i < ROUNDS; i++) {
        atomicAdd_system(&counters->sum, 1);
        atomicAdd_system(&counters->wide, 1ull << 32);
        atomicAdd_system(&counters->real, 1.0f);
        unsigned seen = atomicAdd_system(&counters->claims, 0), expected;
        do {
            expected = seen;
            seen = atomicCAS_system(&counters->claims, expected, expected + 1);
        } while (seen != expected);
    }
}

static void add_float(float *sum) {
    unsigned *bits = (unsigned *)sum, before, after;
    do {
        before = __atomic_load_n(bits, __ATOMIC_RELAXED);
        float next;
        memcpy(&next, &before, sizeof next);
        next += 1.0f;
        memcpy(&after, &next, sizeof after);
    } while (!__sync_bool_compare_and_swap(bits, before, after));
}

static void add_on_host(Counters *counters, const volatile bool *stops, int *count) {
    for (; !*stops && *count < MOST_HOST_ADDS; ++*count) {
        __sync_fetch_and_add(&counters->sum, 1);
        __sync_fetch_and_add(&counters->wide, 1ull << 32);
        __sync_fetch_and_add(&counters->claims, 1);
        add_float(&counters->real);
    }
}

static bool count_together(Counters *counters) {
    std::thread threads[HOST_THREADS];
    int counts[HOST_THREADS] = {};
    volatile bool stops = false;
    memset(counters, 0, sizeof *counters);
    for (int i = 0; i < HOST_THREADS; i++)
        threads[i] = std::thread(add_on_host, counters, &stops, &counts[i]);
    add<<<BLOCKS, THREADS>>>(counters);
    cudaDeviceSynchronize();
    stops = true;
    unsigned all = DEVICE_ADDS;
    for (int i = 0; i < HOST_THREADS; i++) {
        threads[i].join();
        all += counts[i];
    }
    return (unsigned)counters->sum == all && counters->claims == all && counters->real == (float)all &&
           counters->wide == (unsigned long long)all << 32;
}

int main() {
    Counters *managed, *pinned;
    cudaMallocManaged(&managed, sizeof *managed);
    cudaMallocHost(&pinned, sizeof *pinned);
    bool good = count_together(managed);
    good = count_together(pinned) && good;
    printf("%s\n", good ? "PASSED" : "FAILED");
    return !good;
}
