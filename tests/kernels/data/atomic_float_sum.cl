// All elements into one float, which OpenCL 1.x can add to atomically only by compare and exchange.
#if VECTOR_SIZE == 4
typedef float4 real_vector;
#else
#error "only vectors of 4 here"
#endif

float components(real_vector v) { return v.x + v.y + v.s2 + v.hi.y; }

void add_atomically(volatile global float *sum, float value)
{
    union {
        unsigned int bits;
        float number;
    } seen, wanted;
    do {
        seen.number = *sum;
        wanted.number = seen.number + value;
    } while (atomic_cmpxchg((volatile global unsigned int *)sum, seen.bits, wanted.bits) != seen.bits);
}

kernel void sum_all(global const real_vector *in, global float *out, uint vectors)
{
    local float sums[WORK_GROUP_SIZE];
    const uint item = get_local_id(0);
    sums[item] = get_global_id(0) < vectors ? components(in[get_global_id(0)]) : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item == 0) {
        float total = 0;
        for (uint i = 0; i < WORK_GROUP_SIZE; ++i)
            total += sums[i];
        add_atomically(out, total);
    }
}
