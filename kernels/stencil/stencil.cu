// One explicit step of the heat equation on rows x cols cells; the rim keeps its values.
// Rows first_row ... first_row + row_count - 1 are computed. `out` begins at first_row; `in` begins one row
// before it unless that is the first row of the plate.
extern "C" __global__ void stencil(unsigned int rows, unsigned int cols, unsigned int first_row,
                                   unsigned int row_count, float alpha, const float* in, float* out)
{
    const unsigned int column = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned int line = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= cols || line >= row_count) {
        return;
    }
    const unsigned int row = first_row + line;
    const unsigned int at = (line + (first_row > 0 ? 1 : 0)) * cols + column;
    const float centre = in[at];
    float next = centre;
    if (row > 0 && row + 1 < rows && column > 0 && column + 1 < cols) {
        const float around = in[at - cols] + in[at + cols] + in[at - 1] + in[at + 1];
        next = centre + alpha * (around - 4.0f * centre);
    }
    out[line * cols + column] = next;
}
