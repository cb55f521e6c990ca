// counts[v] += occurrences of v in data. A work-group counts in local memory first; each item takes every
// global-size-th byte, so any global size covers all of them.
#define BINS 256

__kernel __attribute__((reqd_work_group_size(BINS, 1, 1)))
void histogram(uint n, __global const uchar* data, __global uint* counts)
{
    __local uint bins[BINS];
    const uint item = get_local_id(0);
    const uint stride = get_global_size(0);

    bins[item] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = get_global_id(0); i < n; i += stride) {
        atomic_inc(&bins[data[i]]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (bins[item] > 0) {
        atomic_add(&counts[item], bins[item]);
    }
}
