// OpenCL C forbids bool and size_t as kernel parameters
// (specification, section 6.9.k).
__kernel void flagged(__global int *out,
                      bool flag)
{
    out[0] = flag;
}
