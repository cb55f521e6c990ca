// European options by the Black-Scholes formula.

// Cumulative normal distribution: Abramowitz and Stegun, formula 26.2.17 (error below 7.5e-8).
static __device__ float normal_cdf(float d)
{
    const float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
    const float series =
        k * (0.319381530f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
    const float tail = 0.39894228040143268f * expf(-0.5f * d * d) * series;
    return d > 0.0f ? 1.0f - tail : tail;
}

extern "C" __global__ void black_scholes(unsigned int n, float rate, float volatility, const float* price,
                                         const float* strike, const float* years, float* call, float* put)
{
    const unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) {
        return;
    }
    const float s = price[i];
    const float t = years[i];
    const float spread = volatility * sqrtf(t);
    const float d1 = (logf(s / strike[i]) + (rate + 0.5f * volatility * volatility) * t) / spread;
    const float d2 = d1 - spread;
    const float discounted = strike[i] * expf(-rate * t);
    call[i] = s * normal_cdf(d1) - discounted * normal_cdf(d2);
    put[i] = discounted * normal_cdf(-d2) - s * normal_cdf(-d1);
}
