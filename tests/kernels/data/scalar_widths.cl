// Neighbours of different width: a value passed too wide would spill into the next parameter.
__kernel void widths(char c, uchar uc, short s, ushort us, int i, uint ui, long l, ulong ul, float f, double d,
                     __global double *out)
{
    out[0] = c;
    out[1] = uc;
    out[2] = s;
    out[3] = us;
    out[4] = i;
    out[5] = ui;
    out[6] = l;
    out[7] = ul;
    out[8] = f;
    out[9] = d;
}
