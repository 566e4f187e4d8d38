// Special functions of floats, in double lanes: what special_functions.h computes one by one for
// doubles. Included once per instruction set, from kernel files only.

#if defined(LOUP_KERNELS_SPECIAL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOUP_KERNELS_SPECIAL_INL_H_
#undef LOUP_KERNELS_SPECIAL_INL_H_
#else
#define LOUP_KERNELS_SPECIAL_INL_H_
#endif

#include "loup/kernels/special_functions.h"
#include "loup/kernels/wide_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace loup::kernels::HWY_NAMESPACE {

// erfinv(x) / x as a function of w - 2.5 for w = -log(1 - x^2) < 5, and of sqrt(w) - 3 up to
// w = 16.7, where the last float below 1 is: 31 bits.
inline constexpr double erfinv_near[] = {
    1.5014093517095615,      0.2466402758253795,     -0.004177324809543243,
    -0.0012527050496968814,  0.00021826382111518207, -4.998560254491792e-06,
    -3.4261486383245383e-06, 4.796092984302175e-07,  1.6485499192253647e-08,
    -1.1006236708084695e-08, 4.3501254842353294e-10, 1.3171823760284447e-10};
inline constexpr double erfinv_far[] = {
    2.832976798443933,      1.0016752746210797,      0.009445551285500307,
    -0.007643733095629597,  0.00568467610020535,     -0.00355943414353939,
    0.0014870941269046565,  -0.00014693003260238754, -0.0002937504934600955,
    0.00020425475457970865, -2.9780303561486707e-05, -2.6674287039339264e-05,
    1.0450745259140023e-05};

HWY_INLINE DoubleVec wide_erfinv(Doubles d, DoubleVec x) {
  const auto one = hn::Set(d, 1.0);
  const auto w = hn::Neg(wide_log(d, hn::NegMulAdd(x, x, one)));
  const auto near = polynomial<erfinv_near>(d, hn::Sub(w, hn::Set(d, 2.5)));
  const auto far = polynomial<erfinv_far>(d, hn::Sub(quick_sqrt(d, w), hn::Set(d, 3.0)));
  const auto quotient = hn::IfThenElse(hn::Lt(w, hn::Set(d, 5.0)), near, far);
  const auto is_end = hn::Eq(hn::Abs(x), one);
  return hn::Mul(x, hn::IfThenElse(is_end, hn::Set(d, infinity), quotient));
}

// log(gamma(x)) / ((x - 1)(x - 2)) as a function of x - 1.5, for x between 1 and 2: 33 bits.
inline constexpr double log_gamma_near[] = {
    0.4831289504959497,   -0.14595989572309861,   0.06291141393561622,   -0.03130850865004032,
    0.016796506202687224, -0.009424958382768174,  0.005456376929246468,  -0.0032209557381837964,
    0.001848765077257485, -0.0011073844241535752, 0.0009591881314328755, -0.0006081025379926545};
// Stirling's series, as a function of 1/x^2.
inline constexpr double stirling[] = {1.0 / 12, -1.0 / 360, 1.0 / 1260, -1.0 / 1680};

HWY_INLINE DoubleVec wide_log_gamma(Doubles d, DoubleVec x) {
  const auto one = hn::Set(d, 1.0);
  const auto two = hn::Set(d, 2.0);
  const auto half = hn::Set(d, 0.5);
  // Below 8: gamma(x) = gamma(t) product, with t between 1 and 2, or gamma(t) / x.
  const auto is_small = hn::Lt(x, one);
  auto t = hn::IfThenElse(is_small, hn::Add(x, one), x);
  auto product = one;
  for (int i = 0; i < 6; ++i) {
    const auto is_large = hn::Ge(t, two);
    t = hn::IfThenElse(is_large, hn::Sub(t, one), t);
    product = hn::IfThenElse(is_large, hn::Mul(product, t), product);
  }
  const auto zeros = hn::Mul(hn::Sub(t, one), hn::Sub(t, two));
  const auto near = hn::Mul(zeros, polynomial<log_gamma_near>(d, hn::Sub(t, hn::Set(d, 1.5))));
  // From there on: (x - 1/2) log(x) - x + log(2 pi)/2 + 1/12x - …
  const auto inverse = quick_reciprocal(d, x);
  const auto series = polynomial<stirling>(d, hn::Mul(inverse, inverse));
  const auto constant = hn::Sub(hn::Set(d, 0.91893853320467274178), x);
  const auto far = hn::MulAdd(inverse, series, constant);

  const auto is_far = hn::Ge(x, hn::Set(d, 8.0));
  const auto argument = hn::IfThenElse(hn::Or(is_far, is_small), x, product);
  const auto sign = hn::IfThenElse(is_small, hn::Neg(one), one);
  const auto factor = hn::IfThenElse(is_far, hn::Sub(x, half), sign);
  const auto result = hn::MulAdd(factor, wide_log(d, argument), hn::IfThenElse(is_far, far, near));
  const auto inf = hn::Set(d, infinity);
  return hn::IfThenElse(hn::Eq(x, inf), inf, result);
}

// log(x) - 1/2x - digamma(x) times x^2 as a function of 1/x^2.
inline constexpr double digamma_series[] = {1.0 / 12,  -1.0 / 120,     1.0 / 252, -1.0 / 240,
                                            1.0 / 132, -691.0 / 32760, 1.0 / 12,  -3617.0 / 8160};
// The product (y + 6) (y + 10) (y + 12), and the derivative of y times it.
inline constexpr double digamma_below[] = {720, 252, 28, 1};
inline constexpr double digamma_above[] = {720, 504, 84, 4};

/// Near the zero at 1.46 relative errors need all the precision that doubles have.
HWY_INLINE DoubleVec wide_digamma(Doubles d, DoubleVec x) {
  // digamma(x) = digamma(x + 8) - (1/x + … + 1/(x + 7)); with y = x (x + 7) the terms, in pairs of
  // the first and the last, are (2x + 7) / (y + 0), / (y + 6), / (y + 10), / (y + 12).
  const auto seven = hn::Set(d, 7.0);
  const auto is_near = hn::Lt(x, hn::Set(d, 8.0));
  const auto y = hn::Mul(x, hn::Add(x, seven));
  const auto above = hn::Mul(hn::Add(hn::Add(x, x), seven), polynomial<digamma_above>(d, y));
  const auto below = hn::Mul(y, polynomial<digamma_below>(d, y));  // keeps the sign of 0
  const auto terms = hn::IfThenElseZero(is_near, hn::Div(above, below));
  const auto z = hn::IfThenElse(is_near, hn::Add(x, hn::Set(d, 8.0)), x);
  const auto inverse = hn::Div(hn::Set(d, 1.0), z);
  const auto square = hn::Mul(inverse, inverse);
  const auto series = hn::Mul(square, polynomial<digamma_series>(d, square));
  const auto small = hn::MulAdd(hn::Set(d, 0.5), inverse, series);
  return hn::Sub(hn::Sub(log(d, z), small), terms);
}

// i0(x) and 2 i1(x) / x as functions of (x/2)^2 for |x| <= 8: 33 bits.
inline constexpr double i0_near[] = {
    0.9999999999925232,    1.000000000247247,     0.2499999987837726,     0.027777779933206227,
    0.0017361092646918954, 6.944532883915608e-05, 1.928755445305035e-06,  3.941491148020739e-08,
    6.094969808095896e-10, 8.021201066495179e-12, 5.6117010363655254e-14, 1.1242160198667224e-15};
inline constexpr double i1_near[] = {
    1.0000000000599294,    0.49999999858167904,   0.08333333846595421,   0.006944437625365204,
    0.0003472266461771013, 1.157246625282838e-05, 2.759251347483971e-07, 4.872975975113152e-09,
    7.24222214979522e-11,  5.519684260519261e-13, 1.2514671110497489e-14};
// i0(x) and i1(x) times sqrt(x) exp(-x) as functions of 1/x beyond: 33 bits.
inline constexpr double i0_far[] = {0.3989422805814404,  0.04986779344111757, 0.028045389452792696,
                                    0.02963426577789903, 0.03064123409312912, 0.3333677162022787,
                                    -1.8892790571151992, 8.496981176799572};
inline constexpr double i1_far[] = {
    0.3989422803896133,    -0.1496034047521482,  -0.0467420921611021, -0.04148561988157061,
    -0.039510466369693555, -0.40595083009631006, 2.2240473793881033,  -9.784789753123146};

/// x between 8 and 100, where both are beyond all floats.
template <const auto& coefficients>
HWY_INLINE DoubleVec far_bessel(Doubles d, DoubleVec x) {
  const auto inverse = quick_reciprocal(d, x);
  const auto growth = hn::Mul(quick_sqrt(d, inverse), wide_exp(d, x));
  return hn::Mul(growth, polynomial<coefficients>(d, inverse));
}

HWY_INLINE DoubleVec wide_bessel_i0(Doubles d, DoubleVec x) {
  const auto size = hn::Min(hn::Set(d, 100.0), hn::Abs(x));
  const auto y = hn::Mul(hn::Set(d, 0.25), hn::Mul(size, size));
  const auto is_near = hn::Le(size, hn::Set(d, 8.0));
  return hn::IfThenElse(is_near, polynomial<i0_near>(d, y), far_bessel<i0_far>(d, size));
}

HWY_INLINE DoubleVec wide_bessel_i1(Doubles d, DoubleVec x) {
  const auto size = hn::Min(hn::Set(d, 100.0), hn::Abs(x));
  const auto half = hn::Mul(hn::Set(d, 0.5), size);
  const auto near = hn::Mul(half, polynomial<i1_near>(d, hn::Mul(half, half)));
  const auto is_near = hn::Le(size, hn::Set(d, 8.0));
  return hn::CopySign(hn::IfThenElse(is_near, near, far_bessel<i1_far>(d, size)), x);
}

}  // namespace loup::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggle
