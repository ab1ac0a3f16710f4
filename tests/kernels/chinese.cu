/* 归约：用共享内存把一个线程块的元素加起来。注释是中文的：双宽字符、标点和很长的行都要显示得对。
 *
 *   每一步：  s[t] += s[t + d]      d = 128、64、32……1
 */
__global__ void reduce(const float *in, float *out, unsigned n) {
    __shared__ float s[256]; // 共享内存，每个线程一个字（4 字节），没有 bank conflict
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = i < n ? in[i] : 0.0f; // 越界的线程放入加法的单位元 0，这样下面的循环就不必再检查边界了，代码也更简单（见《CUDA C++ 编程指南》）
    __syncthreads();
    for (unsigned d = blockDim.x / 2; d > 0; d /= 2) { // 步长：128、64、32……1
        if (t < d) s[t] += s[t + d];                   /* 前一半线程工作 */
        __syncthreads();                               // 등 모두 기다린다 · すべて待つ · всі чекають
    }
    if (t == 0) out[blockIdx.x] = s[0]; // résultat · ผลลัพธ์ · परिणाम · 👍🏽 · 👩‍🔬
}
