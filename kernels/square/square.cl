// y[i] = x[i] * x[i] for n elements from `offset` on.
__kernel void square(uint n, uint offset, __global const float* x, __global float* y)
{
    const uint i = get_global_id(0);
    if (i >= n) {
        return;
    }
    const float value = x[offset + i];
    y[offset + i] = value * value;
}
