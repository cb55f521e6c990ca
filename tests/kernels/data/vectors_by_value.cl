__kernel void vectors(float4 four, int3 three, uchar2 two, __global float *out)
{
    out[0] = four.x;
    out[1] = four.y;
    out[2] = four.z;
    out[3] = four.w;
    out[4] = three.x;
    out[5] = three.y;
    out[6] = three.z;
    out[7] = two.x;
    out[8] = two.y;
}
