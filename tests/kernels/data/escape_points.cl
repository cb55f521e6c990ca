// Iteration at which each point leaves the disc of radius 2, or -1.
__kernel void escape(__global float const *real, __global float const *imaginary, __global int *result, int iterations)
{
    int const i = get_global_id(0);
    float x = real[i];
    float y = imaginary[i];
    result[i] = -1;
    for (int n = 0; n < iterations; n++) {
        if (x * x + y * y > 4) {
            result[i] = n;
            break;
        }
        float next = x * x - y * y + real[i];
        y = 2 * x * y + imaginary[i];
        x = next;
    }
}
