// counts[v] += occurrences of v in data. A block counts in shared memory first; each thread takes every
// grid-size-th byte, so any grid covers all of them.
#define BINS 256

extern "C" __global__ void __launch_bounds__(BINS)
histogram(unsigned int n, const unsigned char* data, unsigned int* counts)
{
    __shared__ unsigned int bins[BINS];
    const unsigned int item = threadIdx.x;
    const unsigned int stride = gridDim.x * blockDim.x;

    bins[item] = 0;
    __syncthreads();
    for (unsigned int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        atomicAdd(&bins[data[i]], 1u);
    }
    __syncthreads();
    if (bins[item] > 0) {
        atomicAdd(&counts[item], bins[item]);
    }
}
