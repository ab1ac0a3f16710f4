// Lanes that part: each kernel in one way. The tests read which lanes go where, when they join, and the words.

// Each lane leaves the loop when its number has become 1.
extern "C" __global__ void collatz(const unsigned *in, unsigned *out) {
    unsigned x = in[threadIdx.x] + 1, steps = 0;
    while (x != 1) {
        x = x % 2 ? 3 * x + 1 : x / 2;
        steps++;
    }
    out[threadIdx.x] = steps;
}

// A switch in an arm of another.
extern "C" __global__ void nested_switch(const int *in, int *out) {
    __shared__ int seen[64];
    int i = threadIdx.x, x = in[i];
    switch (i % 3) {
    case 0:
        switch (i % 4) {
        case 0:
            seen[i] = x + 1;
            break;
        case 1:
            seen[i] = x * 3;
            break;
        default:
            seen[i] = -x;
        }
        seen[i] += 7;
        break;
    case 1:
        seen[i] = x * x;
        break;
    default:
        seen[i] = 0;
    }
    out[i] = seen[i];
}

// The last lanes return early; the others go on.
extern "C" __global__ void early(const int *in, int *out, int n) {
    int i = threadIdx.x;
    if (i >= n)
        return;
    out[i] = in[i] + 1;
}

// Two conditions in one `if`, and its else.
extern "C" __global__ void both(const int *in, int *out) {
    int i = threadIdx.x;
    if (i % 2 == 0 && in[i] > 0) {
        out[i] = in[i];
    } else {
        out[i] = atomicAdd(&out[32], 1);
    }
}

// The compiler chooses by selp: no branch.
extern "C" __global__ void chosen(const int *in, int *out) {
    int i = threadIdx.x, x = in[i];
    if (x < 0)
        x = -2 * x;
    out[i] = i % 2 ? x + 1 : x;
}
