#include <cuda_runtime_api.h>
#include <stdint.h>

__global__ void probe(int64_t *to) { to[threadIdx.x] = blockIdx.x; }
