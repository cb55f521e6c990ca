// y = a*x + y
__kernel void saxpy(uint n, float a, __global const float* x, __global float* y)
{
    const uint i = get_global_id(0);
    if (i < n) {
        y[i] = a * x[i] + y[i];
    }
}
