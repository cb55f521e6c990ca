// c = a + b
extern "C" __global__ void vector_add(unsigned int n, const float* a, const float* b, float* c)
{
    const unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        c[i] = a[i] + b[i];
    }
}
