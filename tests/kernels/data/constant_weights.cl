__constant float bias = 100.0f;

__kernel void weigh(__constant float *weights, __global const float *x, __global float *y, int taps)
{
    int i = get_global_id(0);
    float sum = bias;
    for (int k = 0; k < taps; ++k)
        sum += weights[k] * x[i + k];
    y[i] = sum;
}
