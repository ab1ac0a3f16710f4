// A case that falls through into the default; the default lanes join its lanes there.
extern "C" __global__ void falls(const int *in, int *out) {
    int i = threadIdx.x, v = in[i];
    switch (i % 4) {
    case 1: v += 3; break;
    case 2: v = v * 77 ^ i;
    default: v = v * 5 + 1;
    }
    out[i] = v;
}
// Without a default.
extern "C" __global__ void two_cases(const int *in, int *out) {
    int i = threadIdx.x, v = in[i];
    switch (i % 4) {
    case 1: v += 3; break;
    case 2: v = v * 77 ^ i;
    }
    out[i] = v;
}
