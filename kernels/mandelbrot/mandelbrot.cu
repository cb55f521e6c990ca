// Iterations of z = z*z + c until |z| > 2. Rounded operation by operation, never fused, so that every device
// counts the same.
extern "C" __global__ void mandelbrot(unsigned int width, unsigned int height, unsigned int iterations,
                                      unsigned int first_row, float left, float top, float step, unsigned int* counts)
{
    const unsigned int column = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= width || row >= height) {
        return;
    }
    const float cx = __fadd_rn(left, __fmul_rn((float)column, step));
    const float cy = __fadd_rn(top, __fmul_rn((float)(first_row + row), step));
    float x = 0.0f;
    float y = 0.0f;
    unsigned int count = 0;
    while (count < iterations) {
        const float xx = __fmul_rn(x, x);
        const float yy = __fmul_rn(y, y);
        if (__fadd_rn(xx, yy) > 4.0f) {
            break;
        }
        const float xy = __fmul_rn(x, y);
        y = __fadd_rn(__fadd_rn(xy, xy), cy);
        x = __fadd_rn(__fsub_rn(xx, yy), cx);
        ++count;
    }
    counts[row * width + column] = count;
}
