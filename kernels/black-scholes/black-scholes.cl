// European options by the Black-Scholes formula.

// Cumulative normal distribution: Abramowitz and Stegun, formula 26.2.17 (error below 7.5e-8).
float normal_cdf(float d)
{
    const float k = 1.0f / (1.0f + 0.2316419f * fabs(d));
    const float series =
        k * (0.319381530f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
    const float tail = 0.39894228040143268f * exp(-0.5f * d * d) * series;
    return d > 0.0f ? 1.0f - tail : tail;
}

__kernel void black_scholes(uint n, float rate, float volatility, __global const float* price,
                            __global const float* strike, __global const float* years, __global float* call,
                            __global float* put)
{
    const uint i = get_global_id(0);
    if (i >= n) {
        return;
    }
    const float s = price[i];
    const float t = years[i];
    const float spread = volatility * sqrt(t);
    const float d1 = (log(s / strike[i]) + (rate + 0.5f * volatility * volatility) * t) / spread;
    const float d2 = d1 - spread;
    const float discounted = strike[i] * exp(-rate * t);
    call[i] = s * normal_cdf(d1) - discounted * normal_cdf(d2);
    put[i] = discounted * normal_cdf(-d2) - s * normal_cdf(-d1);
}
