__kernel __attribute__((reqd_work_group_size(8, 2, 1)))
void group_sizes(__global int *out)
{
    int i = get_global_id(1) * get_global_size(0) + get_global_id(0);
    out[i] = get_local_size(0) * 10 + get_local_size(1);
}
