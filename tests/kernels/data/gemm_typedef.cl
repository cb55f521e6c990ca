#if defined(cl_khr_fp64)
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif

typedef double DATA_TYPE;

__kernel void gemm(__global DATA_TYPE *a, __global DATA_TYPE *b, __global DATA_TYPE *c, DATA_TYPE alpha,
                   DATA_TYPE beta, int ni, int nj, int nk)
{
    const int j = get_global_id(0);
    const int i = get_global_id(1);
    if (i >= ni || j >= nj)
        return;
    DATA_TYPE sum = beta * c[i * nj + j];
    for (int k = 0; k < nk; ++k)
        sum += alpha * a[i * nk + k] * b[k * nj + j];
    c[i * nj + j] = sum;
}
