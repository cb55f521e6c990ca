// partial[g] = sum of x over block g, as a tree in shared memory.
#define GROUP 256

extern "C" __global__ void __launch_bounds__(GROUP) reduction(unsigned int n, const float* x, float* partial)
{
    __shared__ float sums[GROUP];
    const unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned int item = threadIdx.x;

    sums[item] = i < n ? x[i] : 0.0f;
    __syncthreads();
    for (unsigned int half_width = GROUP / 2; half_width > 0; half_width /= 2) {
        if (item < half_width) {
            sums[item] += sums[item + half_width];
        }
        __syncthreads();
    }
    if (item == 0) {
        partial[blockIdx.x] = sums[0];
    }
}
