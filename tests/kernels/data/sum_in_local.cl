// Each group sums every element that falls to it, two at a time, then in the local memory handed over.
__kernel void sum_in_local(__global const FPTYPE *in, __global FPTYPE *out, __local FPTYPE *scratch,
                           const unsigned int n)
{
    const unsigned int item = get_local_id(0);
    const unsigned int width = get_local_size(0);
    unsigned int i = get_group_id(0) * width * 2 + item;

    scratch[item] = 0;
    while (i < n) {
        scratch[item] += in[i] + in[i + width];
        i += width * 2 * get_num_groups(0);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (unsigned int s = width / 2; s > 0; s >>= 1) {
        if (item < s)
            scratch[item] += scratch[item + s];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (item == 0)
        out[get_group_id(0)] = scratch[0];
}
