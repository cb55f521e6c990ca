// Iterations of z = z*z + c until |z| > 2. Rounded operation by operation, never fused, so that every device
// counts the same.
#pragma OPENCL FP_CONTRACT OFF

__kernel void mandelbrot(uint width, uint height, uint iterations, uint first_row, float left, float top, float step,
                         __global uint* counts)
{
    const uint column = get_global_id(0);
    const uint row = get_global_id(1);
    if (column >= width || row >= height) {
        return;
    }
    const float cx = left + (float)column * step;
    const float cy = top + (float)(first_row + row) * step;
    float x = 0.0f;
    float y = 0.0f;
    uint count = 0;
    while (count < iterations) {
        const float xx = x * x;
        const float yy = y * y;
        if (xx + yy > 4.0f) {
            break;
        }
        const float xy = x * y;
        y = (xy + xy) + cy;
        x = (xx - yy) + cx;
        ++count;
    }
    counts[row * width + column] = count;
}
