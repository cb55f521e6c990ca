// Größe des Feldes: one work-item a letter. (This comment is not ASCII on purpose: ≤ ½ ☃)
__kernel void next_letter(__global char *in, __global char *out)
{
    int i = get_global_id(0);
    out[i] = in[i] + 1;
}
