// NEEDS: nvcc
// ARGS: --run --check
// EXIT: 1
// EXPECT: unwritten read
// EXPECT: 4 bytes at offset 0 of
// EXPECT: race between lanes of a warp
// EXPECT: surf2Dwrite((float)threadIdx.x, surface, threadIdx.x / 2 * 4, 1);
// An array without a copy into it is read, and two lanes store the same texel.
#include <cuda_runtime.h>

__global__ void fetch(cudaTextureObject_t texture, float *out) {
    out[threadIdx.x] = tex2D<float>(texture, threadIdx.x + 0.5f, 0.5f);
}

__global__ void collide(cudaSurfaceObject_t surface) {
    surf2Dwrite((float)threadIdx.x, surface, threadIdx.x / 2 * 4, 1);
}

int main() {
    float *out;
    cudaMalloc(&out, 32 * sizeof *out);
    cudaArray_t array;
    cudaChannelFormatDesc channel = cudaCreateChannelDesc<float>();
    cudaMallocArray(&array, &channel, 64, 2, cudaArraySurfaceLoadStore);
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc description = {};
    cudaTextureObject_t texture;
    cudaSurfaceObject_t surface;
    cudaCreateTextureObject(&texture, &resource, &description, nullptr);
    cudaCreateSurfaceObject(&surface, &resource);
    fetch<<<1, 32>>>(texture, out);
    collide<<<1, 32>>>(surface);
    return cudaDeviceSynchronize();
}
