/* NVIDIA's libraries in tests: those of build/tests/gpu, which need no GPU. */
#ifndef TESTS_GPU_LIBRARIES_H
#define TESTS_GPU_LIBRARIES_H

/* "REDVIZ_CUDA", "libcuda_stub.so": the variable names that library from now on. "libcuda_emulated.so" is a
 * driver that lets the emulator run the kernels (stub/emulated.c). */
void use_library(const char *variable, const char *name);

#endif
