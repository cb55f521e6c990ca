// y[i] = x[i] * x[i] for n elements from `offset` on.
extern "C" __global__ void square(unsigned int n, unsigned int offset, const float* x, float* y)
{
    const unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) {
        return;
    }
    const float value = x[offset + i];
    y[offset + i] = value * value;
}
