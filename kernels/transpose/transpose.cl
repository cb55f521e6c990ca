// out[c][r] = in[r][c]. A work-group reads one tile row by row and writes it column by column.
#define TILE 16

__kernel __attribute__((reqd_work_group_size(TILE, TILE, 1)))
void transpose(uint rows, uint cols, __global const float* in, __global float* out)
{
    __local float tile[TILE][TILE + 1];  // one more, so that a column spreads over the memory banks

    const uint x = get_local_id(0);
    const uint y = get_local_id(1);
    const uint tileColumn = get_group_id(0) * TILE;
    const uint tileRow = get_group_id(1) * TILE;

    if (tileRow + y < rows && tileColumn + x < cols) {
        tile[y][x] = in[(tileRow + y) * cols + tileColumn + x];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (tileColumn + y < cols && tileRow + x < rows) {
        out[(tileColumn + y) * rows + tileRow + x] = tile[x][y];
    }
}
