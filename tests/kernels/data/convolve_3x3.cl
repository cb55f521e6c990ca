// Weights add up to 0.5; the border of `out` is left as it was. Constants are double on purpose.
__kernel void convolve(__global float *in, __global float *out, int rows, int cols)
{
    int x = get_global_id(0);
    int y = get_global_id(1);
    if (x < 1 || y < 1 || x >= cols - 1 || y >= rows - 1)
        return;
    float corners = in[(y - 1) * cols + x - 1] + in[(y - 1) * cols + x + 1] + in[(y + 1) * cols + x - 1]
                  + in[(y + 1) * cols + x + 1];
    float sides = in[(y - 1) * cols + x] + in[y * cols + x - 1] + in[y * cols + x + 1] + in[(y + 1) * cols + x];
    out[y * cols + x] = 0.125 * corners + 0.25 * sides - 1.0 * in[y * cols + x];
}
