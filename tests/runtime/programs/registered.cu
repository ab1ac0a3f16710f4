/* Memory of the program's own, registered: a kernel and the program use the same bytes, by two addresses. */
#include <cstdio>
#include <cstdlib>
#include <sys/mman.h>

__global__ void add_one(int *values, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) values[i] += 1;
}

static const int N = 3000;

static int sum_of(const int *values) {
    int sum = 0;
    for (int i = 0; i < N; i++) sum += values[i];
    return sum;
}

int main() {
    int *memory = (int *)malloc((N + 100) * sizeof(int)), *values = memory + 50, *on_device = nullptr;
    for (int i = 0; i < N + 100; i++) memory[i] = i;
    int before = sum_of(values);
    printf("registered %d", cudaHostRegister(values, N * sizeof(int), 0));
    printf(", again %d", cudaHostRegister(values + 10, 4, 0));
    printf(", empty %d\n", cudaHostRegister(nullptr, 4, 0));
    printf("address %d", cudaHostGetDevicePointer(&on_device, values, 0));
    cudaPointerAttributes attributes;
    cudaPointerGetAttributes(&attributes, values);
    printf(", type %d, the same %d\n", attributes.type, attributes.devicePointer == on_device);
    add_one<<<12, 256>>>(on_device, N);
    cudaDeviceSynchronize();
    printf("after a launch %d\n", sum_of(values) - before);
    values[0] += 5; /* the kernel sees what the program writes */
    add_one<<<12, 256>>>(on_device, N);
    cudaDeviceSynchronize();
    printf("after two %d, beside it %d %d\n", sum_of(values) - before, memory[49], memory[N + 50]);
    printf("unregistered %d", cudaHostUnregister(values));
    printf(", again %d\n", cudaHostUnregister(values));
    printf("kept %d, beside it %d %d\n", sum_of(values) - before, memory[49], memory[N + 50]);
    free(memory);

    int *shared = (int *)mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    printf("shared: %d", cudaHostRegister(shared, 4096, 0));
    printf(" %d", cudaHostGetDevicePointer(&on_device, shared, 0));
    printf(" %d\n", cudaHostUnregister(shared));
    return 0;
}
