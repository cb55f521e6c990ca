// partial[g] = sum of x over work-group g, as a tree in local memory.
#define GROUP 256

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void reduction(uint n, __global const float* x, __global float* partial)
{
    __local float sums[GROUP];
    const uint i = get_global_id(0);
    const uint item = get_local_id(0);

    sums[item] = i < n ? x[i] : 0.0f;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint half_width = GROUP / 2; half_width > 0; half_width /= 2) {
        if (item < half_width) {
            sums[item] += sums[item + half_width];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (item == 0) {
        partial[get_group_id(0)] = sums[0];
    }
}
