/* Our kernels, compiled for the host, and the threads that they run on. */
#include "own.cu"

#include <pthread.h>
#include <thread>
#include <vector>

thread_local dim3 threadIdx, blockIdx;
static pthread_barrier_t barrier;

void __syncthreads()
{
    pthread_barrier_wait(&barrier);
}

void emulated_run(dim3 grid, dim3 block, const std::function<void()> &thread)
{
    std::vector<std::thread> threads;
    pthread_barrier_init(&barrier, nullptr, block.x);
    for (unsigned t = 0; t < block.x; t++)
        threads.emplace_back([=, &thread] {
            threadIdx = dim3(t, 0, 0);
            for (unsigned b = 0; b < grid.x * grid.y; b++) {
                blockIdx = dim3(b % grid.x, b / grid.x, 0);
                thread();
                pthread_barrier_wait(&barrier); /* the next block has the same memory */
            }
        });
    for (std::thread &t : threads)
        t.join();
    pthread_barrier_destroy(&barrier);
}
