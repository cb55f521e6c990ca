#include "scheduler/kernel/references/reference_entry.h"

#include <cmath>
#include <numbers>

namespace heteroscope::references {
namespace {

/// Probability that a standard normal variable is below z.
double normalBelow(double z) { return 0.5 * std::erfc(-z / std::numbers::sqrt2); }

struct Market {
    std::span<const float> price, strike, years;
    double rate, volatility;

    /// The call's value; the put follows from put-call parity, which the kernel does not use.
    Expected call(std::uint64_t i) const {
        const double s = price[i];
        const double k = presentStrike(i);
        const double deviation = volatility * std::sqrt(static_cast<double>(years[i]));
        const double above = std::log(s / k) / deviation + deviation / 2.0;
        return {s * normalBelow(above) - k * normalBelow(above - deviation), std::abs(s) + std::abs(k)};
    }
    Expected put(std::uint64_t i) const {
        Expected value = call(i);
        value.value += presentStrike(i) - static_cast<double>(price[i]);
        return value;
    }
    double presentStrike(std::uint64_t i) const {
        return static_cast<double>(strike[i]) * std::exp(-rate * static_cast<double>(years[i]));
    }
};

std::vector<Need> needs(const Inputs& in) {
    const std::uint64_t n = in.size("n");
    return {{"price", Scalar::Float, n, Access::Read},
            {"strike", Scalar::Float, n, Access::Read},
            {"years", Scalar::Float, n, Access::Read},
            {"call", Scalar::Float, n, Access::Write},
            {"put", Scalar::Float, n, Access::Write}};
}

std::vector<ExpectedBuffer> expected(const Inputs& in) {
    const Market market{in.before<float>("price"), in.before<float>("strike"), in.before<float>("years"),
                        in.asFloat("rate"), in.asFloat("volatility")};
    return {elementWise("call", 0, in.size("n"), [market](std::uint64_t i) { return market.call(i); }),
            elementWise("put", 0, in.size("n"), [market](std::uint64_t i) { return market.put(i); })};
}

}  // namespace

Reference blackScholesReference() { return {"black-scholes", {"n"}, {"rate", "volatility"}, needs, expected}; }

}  // namespace heteroscope::references
