// A row of a compressed sparse matrix times a vector; the vector in an image where USE_IMAGE is set.
__kernel void csr_rows(__global const float *restrict values,
#ifdef USE_IMAGE
                       image2d_t vector,
#else
                       __global const float *restrict vector,
#endif
                       __global const int *restrict columns, __global const int *restrict rowStarts, const int rows,
                       __global float *restrict out)
{
    int row = get_global_id(0);
    if (row < rows) {
        float sum = 0.0f;
        for (int i = rowStarts[row]; i < rowStarts[row + 1]; i++)
            sum += values[i] * vector[columns[i]];
        out[row] = sum;
    }
}
