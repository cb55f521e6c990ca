// c = a * b; a has rows x n elements, b n x n, all stored row by row. A work-group computes one tile of c.
// Items beyond an edge load zeros and store nothing, so that all of them reach every barrier.
#define TILE 16

__kernel __attribute__((reqd_work_group_size(TILE, TILE, 1)))
void matmul(uint n, uint rows, __global const float* a, __global const float* b, __global float* c)
{
    __local float tileA[TILE][TILE];
    __local float tileB[TILE][TILE];

    const uint x = get_local_id(0);
    const uint y = get_local_id(1);
    const uint column = get_global_id(0);
    const uint row = get_global_id(1);

    float sum = 0.0f;
    for (uint first = 0; first < n; first += TILE) {
        tileA[y][x] = row < rows && first + x < n ? a[row * n + first + x] : 0.0f;
        tileB[y][x] = column < n && first + y < n ? b[(first + y) * n + column] : 0.0f;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint k = 0; k < TILE; ++k) {
            sum += tileA[y][k] * tileB[k][x];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (row < rows && column < n) {
        c[row * n + column] = sum;
    }
}
