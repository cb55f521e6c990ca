// c = a * b; a has rows x n elements, b n x n, all stored row by row. A block computes one tile of c.
// Threads beyond an edge load zeros and store nothing, so that all of them reach every barrier.
#define TILE 16

extern "C" __global__ void __launch_bounds__(TILE * TILE)
matmul(unsigned int n, unsigned int rows, const float* a, const float* b, float* c)
{
    __shared__ float tileA[TILE][TILE];
    __shared__ float tileB[TILE][TILE];

    const unsigned int x = threadIdx.x;
    const unsigned int y = threadIdx.y;
    const unsigned int column = blockIdx.x * blockDim.x + x;
    const unsigned int row = blockIdx.y * blockDim.y + y;

    float sum = 0.0f;
    for (unsigned int first = 0; first < n; first += TILE) {
        tileA[y][x] = row < rows && first + x < n ? a[row * n + first + x] : 0.0f;
        tileB[y][x] = column < n && first + y < n ? b[(first + y) * n + column] : 0.0f;
        __syncthreads();
        for (unsigned int k = 0; k < TILE; ++k) {
            sum += tileA[y][k] * tileB[k][x];
        }
        __syncthreads();
    }
    if (row < rows && column < n) {
        c[row * n + column] = sum;
    }
}
