// Three local pointers of different types beside a local array of the kernel's own.
__kernel void rotate_group(__global int *data, __local char *small, __local int *copy, __local double *wide)
{
    __local int own[8];
    int i = get_local_id(0);
    int n = get_local_size(0);
    small[i] = i;
    copy[i] = data[get_global_id(0)];
    wide[i] = 0.5;
    own[i] = 1000;
    barrier(CLK_LOCAL_MEM_FENCE);
    int from = (i + 1) % n;
    data[get_global_id(0)] = copy[from] + small[from] + (int)(wide[from] * 200) + own[from];
}
