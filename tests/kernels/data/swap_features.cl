// Point by point in, feature by feature out.
__kernel void count_points(__global const float *rows, __global int *total, int points)
{
    if (get_global_id(0) == 0)
        total[0] = points;
}

__kernel void swap_features(__global float *rows, __global float *columns, int points, int features)
{
    unsigned int p = get_global_id(0);
    if (p < points) {
        for (int f = 0; f < features; f++)
            columns[f * points + p] = rows[p * features + f];
    }
}
