/* Memory pools: what they count, when they give memory back, and which handles and places they refuse. */
#include <cstdio>
#include <cuda.h>

enum { COUNT = 64, CHUNK = 32 << 20 };

__global__ void fill(int *values, int value) {
    values[threadIdx.x] = value;
}

static unsigned long long get(cudaMemPool_t pool, cudaMemPoolAttr attribute) {
    unsigned long long value = 0;
    cudaMemPoolGetAttribute(pool, attribute, &value);
    return value;
}

static void show(const char *when, cudaMemPool_t pool) {
    printf("%s: used %llu of %llu chunks, at most %llu of %llu\n", when,
           get(pool, cudaMemPoolAttrUsedMemCurrent), get(pool, cudaMemPoolAttrReservedMemCurrent) / CHUNK,
           get(pool, cudaMemPoolAttrUsedMemHigh), get(pool, cudaMemPoolAttrReservedMemHigh) / CHUNK);
}

static void counts(cudaMemPool_t pool, cudaStream_t stream) {
    int *first, *second, host = 0;
    unsigned long long kept = CHUNK, zero = 0;
    cudaMallocAsync(&first, COUNT * sizeof(int), stream);
    cudaMallocFromPoolAsync(&second, CHUNK, pool, stream);
    fill<<<1, COUNT, 0, stream>>>(second, 7);
    cudaMemcpyAsync(&host, second + COUNT - 1, sizeof host, cudaMemcpyDeviceToHost, stream);
    show("two", pool);
    cudaFreeAsync(second, stream);
    show("one", pool);
    cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &kept);
    cudaStreamSynchronize(stream);
    cudaFreeAsync(first, stream);
    cudaStreamSynchronize(stream);
    show("kept", pool);
    cudaMemPoolTrimTo(pool, 0);
    cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &zero);
    cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReservedMemHigh, &zero);
    show("trimmed", pool);
    printf("value %d, reuse %llu %llu %llu\n", host, get(pool, cudaMemPoolReuseFollowEventDependencies),
           get(pool, cudaMemPoolReuseAllowOpportunistic),
           get(pool, cudaMemPoolReuseAllowInternalDependencies));
}

/* A pool of the program: it has a limit, may become the device's, and its memory outlives it. */
static void own_pool(cudaStream_t stream) {
    cudaMemPoolProps wanted = {};
    wanted.allocType = cudaMemAllocationTypePinned;
    wanted.location = {cudaMemLocationTypeDevice, 0};
    wanted.maxSize = 4096;
    cudaMemPool_t pool, now, first;
    int *values, *more, host = 0;
    cudaMemPoolCreate(&pool, &wanted);
    cudaDeviceGetDefaultMemPool(&first, 0);
    cudaDeviceSetMemPool(0, pool);
    cudaDeviceGetMemPool(&now, 0);
    printf("current %d\n", now == pool && now != first);
    printf("too much %d\n", cudaMallocAsync(&more, 4097, stream));
    cudaMallocAsync(&values, 4096, stream);
    CUmemoryPool of_pointer = nullptr;
    cuPointerGetAttribute(&of_pointer, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, (CUdeviceptr)values);
    printf("of the pool %d, full %d\n", of_pointer == (CUmemoryPool)pool,
           cudaMallocFromPoolAsync(&more, 4, pool, stream));
    cudaMemPoolDestroy(pool);
    cudaDeviceGetMemPool(&now, 0);
    fill<<<1, COUNT, 0, stream>>>(values, 8);
    cudaMemcpy(&host, values, sizeof host, cudaMemcpyDeviceToHost);
    printf("default again %d, value %d, destroyed %d\n", now == first, host, cudaMemPoolTrimTo(pool, 0));
    printf("freed %d\n", cudaFree(values));
    printf("default destroyed %d, other device %d\n", cudaMemPoolDestroy(first),
           cudaDeviceGetMemPool(&now, 1));
}

/* Pools of pinned and of managed memory, which the host reads itself; CUDA 13 has their names. */
static void host_pools(cudaStream_t stream) {
    cudaMemLocation host = {cudaMemLocationTypeHost, 0}, none = {}, device = {cudaMemLocationTypeDevice, 0};
    cudaMemPool_t pinned, managed;
    int *values, *shared;
    cudaMemGetDefaultMemPool(&pinned, &host, cudaMemAllocationTypePinned);
    cudaMemGetMemPool(&managed, &none, cudaMemAllocationTypeManaged);
    cudaMemAccessFlags before, after;
    cudaMemPoolGetAccess(&before, pinned, &device);
    cudaMemAccessDesc access = {device, cudaMemAccessFlagsProtReadWrite}, no_access = {};
    cudaMemPoolSetAccess(pinned, &access, 1);
    cudaMemPoolGetAccess(&after, pinned, &device);
    no_access.location = host;
    printf("access %d %d, own %d\n", before, after, cudaMemPoolSetAccess(pinned, &no_access, 1));
    cudaMallocFromPoolAsync(&values, COUNT * sizeof(int), pinned, stream);
    cudaMallocFromPoolAsync(&shared, COUNT * sizeof(int), managed, stream);
    fill<<<1, COUNT, 0, stream>>>(values, 5);
    fill<<<1, COUNT, 0, stream>>>(shared, 6);
    cudaStreamSynchronize(stream);
    printf("host reads %d %d\n", values[COUNT - 1], shared[0]);
    printf("freed %d %d, unlike %d\n", cudaFreeAsync(values, stream), cudaFree(shared),
           cudaMemSetMemPool(&host, cudaMemAllocationTypePinned, managed));
    printf("nowhere %d\n", cudaMemGetMemPool(&pinned, &none, cudaMemAllocationTypePinned));
}

int main() {
    cudaStream_t stream;
    cudaMemPool_t pool;
    cudaStreamCreate(&stream);
    cudaDeviceGetDefaultMemPool(&pool, 0);
    counts(pool, stream);
    own_pool(stream);
    host_pools(stream);
    int handle;
    printf("export %d\n",
           cudaMemPoolExportToShareableHandle(&handle, pool, cudaMemHandleTypePosixFileDescriptor, 0));
    return 0;
}
