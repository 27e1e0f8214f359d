/*
 * As much of CUDA C++ as our kernels use, for a compiler of the host: the threads of a block are threads
 * here, and blocks run one after the other. So the kernels' own text runs in tests without a device, and
 * the thread sanitizer sees where a barrier is missing.
 */
#ifndef EMULATED_CUDA_RUNTIME_H
#define EMULATED_CUDA_RUNTIME_H

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

#define __global__
#define __shared__ static
#define __launch_bounds__(most)

struct dim3 {
    unsigned x, y, z;
    dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};
struct alignas(8) uint2 {
    unsigned x, y;
};
struct alignas(16) uint4 {
    unsigned x, y, z, w;
};

typedef struct CUstream_st *cudaStream_t;
enum cudaError_t { cudaSuccess = 0, cudaErrorInvalidValue = 1 };

extern thread_local dim3 threadIdx, blockIdx;
void __syncthreads();

/* Runs `thread` as each thread of each block. */
void emulated_run(dim3 grid, dim3 block, const std::function<void()> &thread);

template <typename... parameters, std::size_t... numbers>
void emulated_call(void (*kernel)(parameters...), void **arguments, std::index_sequence<numbers...>)
{
    kernel(*static_cast<parameters *>(arguments[numbers])...);
}

template <typename... parameters>
int cudaLaunchKernel(void (*kernel)(parameters...), dim3 grid, dim3 block, void **arguments,
                     std::size_t, cudaStream_t)
{
    emulated_run(grid, block, [=] {
        emulated_call(kernel, arguments, std::index_sequence_for<parameters...>());
    });
    return cudaSuccess;
}

#endif
