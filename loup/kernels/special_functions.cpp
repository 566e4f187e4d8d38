#include "loup/kernels/special_functions.h"

#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>

namespace loup::kernels {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

template <std::size_t count>
double polynomial(const double (&coefficients)[count], double x) {
  double result = coefficients[count - 1];
  for (std::size_t i = count - 1; i-- > 0;) result = result * x + coefficients[i];
  return result;
}

/// a^-s for a whole number s; std::pow takes much longer when s is small.
double inverse_power(double a, double s) {
  if (s > 8) return std::pow(a, -s);
  double result = 1 / a;
  for (int i = 1; i < static_cast<int>(s); ++i) result /= a;
  return result;
}

/// The Hurwitz zeta function, the sum of (q + k)^-s over k >= 0, for a whole s > 1 and q > 0: some
/// terms, and the formula of Euler and Maclaurin for the rest.
double positive_zeta(double s, double q) {
  // B_2j / (2j)!
  constexpr double bernoulli[] = {1.0 / 12,
                                  -1.0 / 720,
                                  1.0 / 30240,
                                  -1.0 / 1209600,
                                  1.0 / 47900160,
                                  -5.2841901386874932e-10,
                                  1.3382536530684679e-11,
                                  -3.3896802963225829e-13,
                                  8.5860620562778446e-15,
                                  -2.1748686985580619e-16};
  constexpr double negligible = std::numeric_limits<double>::epsilon() / 4;
  double sum = 0;
  double a = q;
  for (int i = 0; i < 10 || a < 10; ++i, a += 1) {
    const double term = inverse_power(a, s);
    sum += term;
    if (term < negligible * sum) return sum;
  }
  const double power = inverse_power(a, s);
  sum += power * a / (s - 1) + power / 2;
  double factor = s * power / a;
  for (int j = 0; const double b : bernoulli) {
    const double term = factor * b;
    sum += term;
    if (std::abs(term) < negligible * sum) break;
    factor *= (s + 2 * j + 1) * (s + 2 * j + 2) / (a * a);
    ++j;
  }
  return sum;
}

/// The same for any q and a whole number s > 1.
double zeta(double s, double q) {
  if (q == infinity) return 0;
  if (q > 0) return positive_zeta(s, q);
  if (!(q > -infinity)) return not_a_number;
  const double below = std::floor(q);
  if (q == below) return infinity;
  // A few negative terms are added as they are: their distance to a pole is exact.
  if (q > -32) {
    double sum = 0;
    for (; q < 0; q += 1) sum += inverse_power(q, s);
    return sum + positive_zeta(s, q);
  }
  // The terms with negative q + k are those of two other series: where the mirrored one starts, and
  // where it would go on.
  const double fraction = q - below;
  const double mirrored = positive_zeta(s, 1 - fraction) - positive_zeta(s, 1 - q);
  return positive_zeta(s, fraction) + (std::fmod(s, 2) == 0 ? mirrored : -mirrored);
}

/// cot(pi r) for |r| <= 1/2, exactly 0 at the ends.
double cot_pi(double r) {
  const double size = std::abs(r);
  const double cot = size < 0.25 ? 1 / std::tan(std::numbers::pi * size)
                                 : std::tan(std::numbers::pi * (0.5 - size));
  return std::copysign(cot, r);
}

}  // namespace

double log_gamma(double x) {
  int sign;  // std::lgamma would write it to a variable that threads share
  return lgamma_r(x, &sign);
}

double digamma(double x) {
  if (x == 0) return std::copysign(infinity, -x);
  if (x < 0) {
    const double r = x - std::nearbyint(x);
    if (!(r != 0)) return not_a_number;
    return digamma(1 - x) - std::numbers::pi * cot_pi(r);
  }
  if (x < 10) {
    double sum = 0;
    for (; x > 2; sum += 1 / x) x -= 1;
    if (x < 1) {
      sum -= 1 / x;
      x += 1;
    }
    // digamma(x) / (x - zero) around x = 1.5, where zero is zero_high + zero_low.
    constexpr double quotient[] = {
        0.951055876031833,      -0.4236274212814606,     0.24054248424077396,
        -0.14840492305389055,   0.09498872445497683,     -0.061922133274670985,
        0.040760833810591715,   -0.02697579669171576,    0.017907252487037204,
        -0.011908219417601987,  0.00792694393555623,     -0.005279946200646828,
        0.0035190128674288993,  -0.002345421742979914,   0.0015565953338405995,
        -0.0010368351385255886, 0.0007234505903676176,   -0.0004847575937425593,
        0.0002269994708893196,  -0.00014692213622555402, 0.0002598720949880153,
        -0.0001766096200997327};
    constexpr double zero_high = 1.4616321449683622;
    constexpr double zero_low = 9.549995429965697e-17;
    return sum + ((x - zero_high) - zero_low) * polynomial(quotient, x - 1.5);
  }
  // B_2k / 2k
  constexpr double asymptotic[] = {1.0 / 12,  -1.0 / 120,     1.0 / 252, -1.0 / 240,
                                   1.0 / 132, -691.0 / 32760, 1.0 / 12};
  const double inverse_square = 1 / (x * x);
  return std::log(x) - 0.5 / x - inverse_square * polynomial(asymptotic, inverse_square);
}

double polygamma(double n, double x) {
  if (n == 0) return digamma(x);
  const double size = std::tgamma(n + 1) * zeta(n + 1, x);
  return std::fmod(n, 2) == 0 ? -size : size;
}

// The Bessel functions are polynomials of (x/2)^2 with positive terms for small x, and exp(x) /
// sqrt(x) times polynomials of 1/x for others.
namespace {

constexpr double small_bessel = 15;

/// exp(x) / sqrt(x) y; exp(x) itself may be too large.
double with_growth(double x, double y) {
  const double half = std::exp(x / 2);
  return half * y / std::sqrt(x) * half;
}

}  // namespace

double bessel_i0(double x) {
  constexpr double near[] = {1.0,
                             0.2500000000000002,
                             0.0277777777777773,
                             0.0017361111111115941,
                             6.944444444416563e-05,
                             1.9290123457802417e-06,
                             3.936759886669763e-08,
                             6.151187369249345e-10,
                             7.594057897157919e-12,
                             7.594063373632183e-14,
                             6.276046455750532e-16,
                             4.358578299405799e-18,
                             2.5781448101815695e-20,
                             1.318293371141433e-22,
                             5.786157288384874e-25,
                             2.3992098311582814e-27,
                             6.323249752173794e-30,
                             3.9865323355011457e-32,
                             -3.230880778738629e-35,
                             5.299020820721445e-37};
  constexpr double far[] = {0.39894228040143265,  0.0498677850501931,  0.028050629080165458,
                            0.029219408952528576, 0.04474151591196635, 0.090685295312867,
                            0.22202634824455858,  1.0255382503576949,  -9.947634335880402,
                            328.615263263885,     -5659.42733416893,   68881.29174567459,
                            -520549.9371870633,   2186652.507820411,   -3369098.1416405695};
  const double size = std::abs(x);
  if (size <= small_bessel) {
    const double y = 0.25 * x * x;
    return 1 + y * polynomial(near, y);
  }
  if (size == infinity) return infinity;
  return with_growth(size, polynomial(far, 1 / size));
}

double bessel_i1(double x) {
  constexpr double near[] = {1.0,
                             0.5000000000000002,
                             0.08333333333333225,
                             0.00694444444444615,
                             0.0003472222222208712,
                             1.1574074074699382e-05,
                             2.7557319205458467e-07,
                             4.9209498987526055e-09,
                             6.834652052128579e-11,
                             7.594063990606804e-13,
                             6.9036462051394895e-15,
                             5.230322371382249e-17,
                             3.351465961972263e-19,
                             1.84600294326796e-21,
                             8.669903304564902e-24,
                             3.8549668062256584e-26,
                             1.0549226917213795e-28,
                             7.341749124518569e-31,
                             -6.966573552232303e-34,
                             1.0785765674647651e-35};
  constexpr double far[] = {0.3989422804014327,   -0.14960335515055193,  -0.04675104847351691,
                            -0.04090717122596363, -0.057524978252274005, -0.11082233323684945,
                            -0.26333289091840234, -1.1423320642011563,   9.986230682677284,
                            -338.09708695665984,  5782.860145383812,     -70116.99541798988,
                            526112.013632739,     -2185606.125440025,    3267679.272417452};
  const double size = std::abs(x);
  if (size <= small_bessel) return 0.5 * x * polynomial(near, 0.25 * x * x);
  if (size == infinity) return x;
  return std::copysign(with_growth(size, polynomial(far, 1 / size)), x);
}

double erfinv(double x) {
  if (!(std::abs(x) < 1)) return std::abs(x) == 1 ? x * infinity : not_a_number;
  // A start of 19 bits, from w = -log(1 - x^2), and one step of Halley's method, which triples
  // them.
  constexpr double near[] = {1.501409359297437,       0.24664028615681022,
                             -0.004177386816071758,   -0.0012527418843775498,
                             0.00021834446399826785,  -4.9633418937949055e-06,
                             -3.4627107124439433e-06, 4.661689053875467e-07,
                             2.3233105053538985e-08,  -8.790904799006306e-09};
  constexpr double far[] = {2.8329768371772093,    1.0016999748983273,      0.00944660789414979,
                            -0.007829496961809639, 0.005772994659526552,    -0.0032130590515644076,
                            0.0011251483768851165, -0.00021523631741707003, 1.704857405036603e-05};
  const double size = std::abs(x);
  const double w = -std::log((1 - size) * (1 + size));
  const double start = w < 5 ? polynomial(near, w - 2.5) : polynomial(far, std::sqrt(w) - 3);
  double y = start * size;
  for (int steps = w < 5 ? 1 : 2; steps > 0; --steps) {
    // Far out erf(y) says nothing about the distance to 1.
    const double error = size < 0.5 ? std::erf(y) - size : (1 - size) - std::erfc(y);
    const double step = error * std::exp(y * y) * (0.5 / std::numbers::inv_sqrtpi);
    y -= step / (1 + y * step);
  }
  return std::copysign(y, x);
}

}  // namespace loup::kernels
