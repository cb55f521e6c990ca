// out[c][r] = in[r][c]. A block reads one tile row by row and writes it column by column.
#define TILE 16

extern "C" __global__ void __launch_bounds__(TILE * TILE)
transpose(unsigned int rows, unsigned int cols, const float* in, float* out)
{
    __shared__ float tile[TILE][TILE + 1];  // one more, so that a column spreads over the memory banks

    const unsigned int x = threadIdx.x;
    const unsigned int y = threadIdx.y;
    const unsigned int tileColumn = blockIdx.x * TILE;
    const unsigned int tileRow = blockIdx.y * TILE;

    if (tileRow + y < rows && tileColumn + x < cols) {
        tile[y][x] = in[(tileRow + y) * cols + tileColumn + x];
    }
    __syncthreads();
    if (tileColumn + y < cols && tileRow + x < rows) {
        out[(tileColumn + y) * rows + tileRow + x] = tile[x][y];
    }
}
