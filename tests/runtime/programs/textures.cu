/* Arrays, textures and surfaces: copies to and from arrays, an array read through a texture and written through
   a surface, textures of linear and pitched memory, layers, and what is refused. */
#include <cstdio>
#include <cstring>

__global__ void fetch(cudaTextureObject_t texture, float *out) {
    out[threadIdx.x] = tex2D<float>(texture, threadIdx.x * 0.5f, 0.5f);
}

__global__ void fetch_line(cudaTextureObject_t texture, float *out) {
    out[threadIdx.x] = tex1Dfetch<float>(texture, threadIdx.x);
}

__global__ void fetch_layers(cudaTextureObject_t texture, float *out) {
    out[threadIdx.x] = tex2DLayered<float>(texture, 0.5f, 0.5f, threadIdx.x);
}

__global__ void write(cudaSurfaceObject_t surface) {
    surf2Dwrite(10.0f * threadIdx.x, surface, threadIdx.x * (int)sizeof(float), 1);
}

static int wrong;

static void expect(const char *what, const float *device, int count, const float *expected) {
    float got[16];
    cudaMemcpy(got, device, count * sizeof *got, cudaMemcpyDeviceToHost);
    for (int i = 0; i < count; i++)
        if (got[i] != expected[i]) wrong++, printf("%s %d: %g, not %g\n", what, i, got[i], expected[i]);
}

static cudaTextureObject_t texture_of(const cudaResourceDesc &resource, bool filters) {
    cudaTextureDesc description = {};
    description.filterMode = filters ? cudaFilterModeLinear : cudaFilterModePoint;
    for (int i = 0; i < 3; i++) description.addressMode[i] = cudaAddressModeClamp;
    cudaTextureObject_t texture = 0;
    int error = cudaCreateTextureObject(&texture, &resource, &description, NULL);
    if (error) wrong++, printf("cudaCreateTextureObject: %d\n", error);
    return texture;
}

int main() {
    const float rows[2][4] = {{0, 4, 8, 16}, {1, 2, 3, 4}};
    const float filtered[8] = {0, 0, 2, 4, 6, 8, 12, 16}; /* x = 0, 0.5, ...: texel i is at i + 0.5 */
    const float written[4] = {0, 10, 20, 30};
    float *out, back[2][4] = {};
    cudaMalloc(&out, 16 * sizeof *out);

    cudaArray_t array;
    cudaChannelFormatDesc channel = cudaCreateChannelDesc<float>();
    cudaMallocArray(&array, &channel, 4, 2, cudaArraySurfaceLoadStore);
    cudaMemcpy2DToArray(array, 0, 0, rows, sizeof rows[0], sizeof rows[0], 2, cudaMemcpyHostToDevice);
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureObject_t texture = texture_of(resource, true);
    fetch<<<1, 8>>>(texture, out);
    expect("filter", out, 8, filtered);

    cudaSurfaceObject_t surface;
    cudaCreateSurfaceObject(&surface, &resource);
    write<<<1, 4>>>(surface);
    cudaMemcpy2DFromArray(back, sizeof back[0], array, 0, 0, sizeof back[0], 2, cudaMemcpyDeviceToHost);
    if (memcmp(back[0], rows[0], sizeof back[0]) || memcmp(back[1], written, sizeof written))
        wrong++, printf("surface: %g %g\n", back[0][1], back[1][1]);
    cudaDestroySurfaceObject(surface);
    cudaDestroyTextureObject(texture);

    cudaExtent extent;
    unsigned flags;
    cudaArrayGetInfo(&channel, &extent, &flags, array);
    if (extent.width != 4 || extent.height != 2 || extent.depth || channel.x != 32 || flags != 2) wrong++;
    cudaFreeArray(array);

    float *line;
    const float numbers[4] = {5, 6, 7, 8}, beyond[5] = {5, 6, 7, 8, 0};
    cudaMalloc(&line, sizeof numbers);
    cudaMemcpy(line, numbers, sizeof numbers, cudaMemcpyHostToDevice);
    resource = {};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = line;
    resource.res.linear.desc = channel;
    resource.res.linear.sizeInBytes = sizeof numbers;
    texture = texture_of(resource, false);
    fetch_line<<<1, 5>>>(texture, out);
    expect("line", out, 5, beyond);
    cudaDestroyTextureObject(texture);

    size_t pitch;
    float *pitched;
    cudaMallocPitch(&pitched, &pitch, sizeof rows[0], 2);
    cudaMemcpy2D(pitched, pitch, rows, sizeof rows[0], sizeof rows[0], 2, cudaMemcpyHostToDevice);
    resource = {};
    resource.resType = cudaResourceTypePitch2D;
    resource.res.pitch2D.devPtr = pitched;
    resource.res.pitch2D.desc = channel;
    resource.res.pitch2D.width = 4;
    resource.res.pitch2D.height = 2;
    resource.res.pitch2D.pitchInBytes = pitch;
    texture = texture_of(resource, true);
    fetch<<<1, 8>>>(texture, out);
    expect("pitch", out, 8, filtered);
    cudaDestroyTextureObject(texture);

    const float layers[3] = {1, 2, 3}, clamped[4] = {1, 2, 3, 3};
    cudaMalloc3DArray(&array, &channel, make_cudaExtent(1, 1, 3), cudaArrayLayered);
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr((void *)layers, sizeof(float), 1, 1);
    copy.dstArray = array;
    copy.extent = make_cudaExtent(1, 1, 3);
    copy.kind = cudaMemcpyHostToDevice;
    cudaMemcpy3D(&copy);
    resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    texture = texture_of(resource, false);
    fetch_layers<<<1, 4>>>(texture, out);
    expect("layers", out, 4, clamped);
    cudaDestroyTextureObject(texture);
    cudaFreeArray(array);

    cudaChannelFormatDesc three = {32, 32, 32, 0, cudaChannelFormatKindFloat};
    printf("three channels: %d\n", (int)cudaMallocArray(&array, &three, 4, 4));
    printf("too much: %d\n", (int)cudaMemcpy2DToArray(array, 0, 0, rows, 16, 16, 9, cudaMemcpyHostToDevice));
    cudaFree(out);
    cudaFree(line);
    cudaFree(pitched);
    printf("%s: %d\n", wrong ? "FAILED" : "PASSED", wrong);
    return wrong != 0;
}
