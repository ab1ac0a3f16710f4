/* NVIDIA's libraries in tests: those of build/tests/gpu, which need no GPU. */
#ifndef TESTS_GPU_LIBRARIES_H
#define TESTS_GPU_LIBRARIES_H

/* Makes the variable name the library, such as "REDVIZ_CUDA", "libcuda_stub.so". "libcuda_emulated.so" is a
 * driver that runs kernels on the emulator (stub/emulated.c). */
void use_library(const char *variable, const char *name);

#endif
