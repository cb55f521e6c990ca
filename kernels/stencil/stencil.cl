// One explicit step of the heat equation on rows x cols cells; the rim keeps its values.
// Rows first_row ... first_row + row_count - 1 are computed. `out` begins at first_row; `in` begins one row
// before it unless that is the first row of the plate.
__kernel void stencil(uint rows, uint cols, uint first_row, uint row_count, float alpha,
                      __global const float* in, __global float* out)
{
    const uint column = get_global_id(0);
    const uint line = get_global_id(1);
    if (column >= cols || line >= row_count) {
        return;
    }
    const uint row = first_row + line;
    const uint at = (line + (first_row > 0 ? 1 : 0)) * cols + column;
    const float centre = in[at];
    float next = centre;
    if (row > 0 && row + 1 < rows && column > 0 && column + 1 < cols) {
        const float around = in[at - cols] + in[at + cols] + in[at - 1] + in[at + 1];
        next = centre + alpha * (around - 4.0f * centre);
    }
    out[line * cols + column] = next;
}
