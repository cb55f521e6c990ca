// C = A * B through two tiles in local memory that the caller hands over. BLOCK_SIZE comes from the command line.
#define TILE_A(row, col) tileA[(col) + (row) * BLOCK_SIZE]
#define TILE_B(row, col) tileB[(col) + (row) * BLOCK_SIZE]

__kernel void tiled_product(__global float *C, __global float *A, __global float *B, __local float *tileA,
                            __local float *tileB, int widthA, int widthB, int heightA)
{
    int tx = get_local_id(0);
    int ty = get_local_id(1);
    int col = get_global_id(0);
    int row = get_global_id(1);
    float sum = 0.0f;
    for (int start = 0; start < widthA; start += BLOCK_SIZE) {
        TILE_A(ty, tx) = A[row * widthA + start + tx];
        TILE_B(ty, tx) = B[(start + ty) * widthB + col];
        barrier(CLK_LOCAL_MEM_FENCE);
        #pragma unroll
        for (int k = 0; k < BLOCK_SIZE; ++k)
            sum += TILE_A(ty, k) * TILE_B(k, tx);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (row < heightA)
        C[row * widthB + col] = sum;
}
