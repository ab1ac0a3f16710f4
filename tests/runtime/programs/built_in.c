/* A program with a runtime of its own, in the place of NVIDIA's: each of its functions refuses all.
 *
 * CUDA_12: it has what CUDA 12 had last. Compiled with -O2 -falign-functions=16 -fno-toplevel-reorder. */
#include <stddef.h>
#include <stdio.h>

#define OF_RUNTIME __attribute__((noinline))

static volatile int refused = 35;

OF_RUNTIME void *__cudaRegisterFatBinary(void *wrapper) {
    return refused ? NULL : wrapper;
}

OF_RUNTIME int cudaMalloc(void **pointer, size_t bytes) {
    *pointer = NULL;
    return bytes ? refused : 0;
}

/* No CUDA has it. */
OF_RUNTIME int cudaAddNothing(int to) {
    return to + refused;
}

/* There is no room for a jump. */
__asm__(".balign 16\n.type cudaFreeHost, @function\n.globl cudaFreeHost\n"
        "cudaFreeHost: movl $36, %eax\nret\nmovl $37, %eax\nret\nmovl $38, %eax\nret\n"
        ".size cudaFreeHost, 6\n.balign 16");
int cudaFreeHost(void *pointer);

#ifdef CUDA_12
OF_RUNTIME int cudaThreadSynchronize(void) {
    return refused;
}
#endif

OF_RUNTIME int cudaRuntimeGetVersion(int *version) {
    *version = 0;
    return refused;
}

/* Of the program: it lies behind the runtime. */
OF_RUNTIME int cudaOfMine(int value) {
    return value + refused;
}

int main(void) {
    void *memory = NULL;
    int version = 0, error = cudaMalloc(&memory, 4);
    printf("cudaMalloc: %d, %s\n", error, memory ? "memory" : "none");
    printf("cudaAddNothing: %d\n", cudaAddNothing(1));
    printf("cudaFreeHost: %d\n", cudaFreeHost(NULL));
    error = cudaRuntimeGetVersion(&version);
    printf("cudaRuntimeGetVersion: %d, %d\n", error, version);
    printf("cudaOfMine: %d\n", cudaOfMine(7));
    return 0;
}
