#include "beside.h"
#include "inner.h"

__kernel void with_header(__global int *out)
{
    out[get_global_id(0)] = BESIDE + inner(get_global_id(0));
}
