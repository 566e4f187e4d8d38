#pragma once

#include "loup/ops/elementwise.h"
#include "loup/ops/unary_rules.h"

// The list: every unary operator, described once.

namespace loup::ops {

using kernels::UnaryOp;

inline constexpr Unary abs{"abs",      "Absolute value.", UnaryOp::abs, ResultKind::numeric,
                           rules::abs, Saves::inputs,     {},           {"absolute"}};
inline constexpr Unary acos{
    "acos", "Inverse cosine.", UnaryOp::acos, ResultKind::floating, rules::acos, Saves::inputs,
    {},     {"arccos"}};
inline constexpr Unary acosh{"acosh",
                             "Inverse hyperbolic cosine.",
                             UnaryOp::acosh,
                             ResultKind::floating,
                             rules::acosh,
                             Saves::inputs,
                             {},
                             {"arccosh"}};
inline constexpr Unary angle{"angle",
                             "0 for positive numbers, pi for negative ones.",
                             UnaryOp::angle,
                             ResultKind::floating,
                             rules::zero,
                             Saves::nothing,
                             {},
                             {},
                             false};
inline constexpr Unary asin{
    "asin", "Inverse sine.", UnaryOp::asin, ResultKind::floating, rules::asin, Saves::inputs,
    {},     {"arcsin"}};
inline constexpr Unary asinh{"asinh",
                             "Inverse hyperbolic sine.",
                             UnaryOp::asinh,
                             ResultKind::floating,
                             rules::asinh,
                             Saves::inputs,
                             {},
                             {"arcsinh"}};
inline constexpr Unary atan{
    "atan", "Inverse tangent.", UnaryOp::atan, ResultKind::floating, rules::atan, Saves::inputs,
    {},     {"arctan"}};
inline constexpr Unary atanh{"atanh",
                             "Inverse hyperbolic tangent.",
                             UnaryOp::atanh,
                             ResultKind::floating,
                             rules::atanh,
                             Saves::inputs,
                             {},
                             {"arctanh"}};
inline constexpr Unary bitwise_not{"bitwise_not", "Every bit turned; of bool, not.",
                                   UnaryOp::bitwise_not, ResultKind::integral};
inline constexpr Unary ceil{"ceil",        "The next integer above.",
                            UnaryOp::ceil, ResultKind::numeric,
                            rules::zero,   Saves::nothing};
inline constexpr Unary conj_physical{
    "conj_physical",   "Complex conjugate: of real numbers, the number itself.",
    UnaryOp::positive, ResultKind::arithmetic,
    rules::identity,   Saves::nothing};
inline constexpr Unary cos{"cos", "Cosine.", UnaryOp::cos, ResultKind::floating, rules::cos};
inline constexpr Unary cosh{"cosh", "Hyperbolic cosine.", UnaryOp::cosh, ResultKind::floating,
                            rules::cosh};
inline constexpr Unary deg2rad{"deg2rad",        "Degrees to radians.",
                               UnaryOp::deg2rad, ResultKind::floating,
                               rules::deg2rad,   Saves::nothing};
inline constexpr Unary digamma{"digamma", "Logarithmic derivative of the gamma function.",
                               UnaryOp::digamma, ResultKind::floating, rules::digamma};
inline constexpr Unary erf{"erf", "Error function.", UnaryOp::erf, ResultKind::floating,
                           rules::erf};
inline constexpr Unary erfc{"erfc", "1 - erf(x), exact for large x.", UnaryOp::erfc,
                            ResultKind::floating, rules::erfc};
inline constexpr Unary erfinv{"erfinv",        "Inverse of the error function.",
                              UnaryOp::erfinv, ResultKind::floating,
                              rules::erfinv,   Saves::output};
inline constexpr Unary exp{"exp",      "Exponential.", UnaryOp::exp, ResultKind::floating,
                           rules::exp, Saves::output};
inline constexpr Unary exp2{"exp2",        "2 to the power of x.",
                            UnaryOp::exp2, ResultKind::floating,
                            rules::exp2,   Saves::output};
inline constexpr Unary expm1{"expm1",        "exp(x) - 1, exact for small x.",
                             UnaryOp::expm1, ResultKind::floating,
                             rules::expm1,   Saves::output};
inline constexpr Unary floor{"floor",        "The next integer below.",
                             UnaryOp::floor, ResultKind::numeric,
                             rules::zero,    Saves::nothing};
inline constexpr Unary frac{"frac",          "The part after the point, with the sign of x.",
                            UnaryOp::frac,   ResultKind::numeric,
                            rules::identity, Saves::nothing};
inline constexpr Unary gelu{
    "gelu",
    "x times the probability that a normal number is below x, exactly or approximated by tanh.",
    UnaryOp::gelu,
    ResultKind::floating,
    rules::gelu,
    Saves::inputs,
    {Parameter{"approximate", 0, {"none", "tanh"}}}};
inline constexpr Unary i0{"i0", "Modified Bessel function of the first kind, order 0.", UnaryOp::i0,
                          ResultKind::floating, rules::i0};
inline constexpr Unary i1{"i1",        "Modified Bessel function of the first kind, order 1.",
                          UnaryOp::i1, ResultKind::floating,
                          rules::i1,   Saves::both};
inline constexpr Unary isfinite{"isfinite",
                                "Neither NaN nor infinite.",
                                UnaryOp::isfinite,
                                ResultKind::boolean,
                                nullptr,
                                Saves::nothing,
                                {},
                                {},
                                false};
inline constexpr Unary isinf{
    "isinf", "Infinite.", UnaryOp::isinf, ResultKind::boolean, nullptr, Saves::nothing,
    {},      {},          false};
inline constexpr Unary isnan{
    "isnan", "Not a number.", UnaryOp::isnan, ResultKind::boolean, nullptr, Saves::nothing, {}, {},
    false};
inline constexpr Unary lgamma{"lgamma", "Logarithm of the absolute value of the gamma function.",
                              UnaryOp::lgamma, ResultKind::floating, rules::lgamma};
inline constexpr Unary log{"log", "Natural logarithm.", UnaryOp::log, ResultKind::floating,
                           rules::log};
inline constexpr Unary log10{"log10", "Logarithm to base 10.", UnaryOp::log10, ResultKind::floating,
                             rules::log10};
inline constexpr Unary log1p{"log1p", "log(1 + x), exact for small x.", UnaryOp::log1p,
                             ResultKind::floating, rules::log1p};
inline constexpr Unary log2{"log2", "Logarithm to base 2.", UnaryOp::log2, ResultKind::floating,
                            rules::log2};
inline constexpr Unary logical_not{
    "logical_not", "True where x is 0.", UnaryOp::logical_not, ResultKind::boolean,
    nullptr,       Saves::nothing};
inline constexpr Unary logit{"logit",
                             "log(x / (1 - x)); with eps, x is first moved into [eps, 1 - eps].",
                             UnaryOp::logit,
                             ResultKind::floating,
                             rules::logit,
                             Saves::inputs,
                             {Parameter{"eps", -1}}};
inline constexpr Unary nan_to_num{
    "nan_to_num",
    "NaN and infinities replaced: by nan, and by posinf and neginf or else the largest numbers of "
    "the dtype.",
    UnaryOp::nan_to_num,
    ResultKind::arithmetic,
    rules::nan_to_num,
    Saves::inputs,
    {Parameter{"nan", 0}, Parameter{"posinf", largest_number},
     Parameter{"neginf", -largest_number}}};
inline constexpr Unary neg{"neg",      "-x.",          UnaryOp::neg, ResultKind::numeric,
                           rules::neg, Saves::nothing, {},           {"negative"}};
inline constexpr Unary polygamma{"polygamma",
                                 "Derivative n of digamma.",
                                 UnaryOp::polygamma,
                                 ResultKind::floating,
                                 rules::polygamma,
                                 Saves::inputs,
                                 {Parameter{"n", 0, {}, true, 0}}};
inline constexpr Unary positive{
    "positive", "+x.", UnaryOp::positive, ResultKind::numeric, rules::identity, Saves::nothing, {},
    {},         false};
inline constexpr Unary rad2deg{"rad2deg",        "Radians to degrees.",
                               UnaryOp::rad2deg, ResultKind::floating,
                               rules::rad2deg,   Saves::nothing};
inline constexpr Unary reciprocal{"reciprocal",         "1 / x.",          UnaryOp::reciprocal,
                                  ResultKind::floating, rules::reciprocal, Saves::output};
inline constexpr Unary relu{"relu",        "x where it is positive, 0 elsewhere.",
                            UnaryOp::relu, ResultKind::numeric,
                            rules::relu,   Saves::output};
inline constexpr Unary round{"round",
                             "The nearest number with so many decimals; halves go to the even one.",
                             UnaryOp::round,
                             ResultKind::numeric,
                             rules::zero,
                             Saves::nothing,
                             {Parameter{"decimals", 0, {}, true}}};
inline constexpr Unary rsqrt{"rsqrt",      "1 / sqrt(x).", UnaryOp::rsqrt, ResultKind::floating,
                             rules::rsqrt, Saves::output};
inline constexpr Unary sigmoid{"sigmoid",        "1 / (1 + exp(-x)).",
                               UnaryOp::sigmoid, ResultKind::floating,
                               rules::sigmoid,   Saves::output};
inline constexpr Unary sign{
    "sign", "-1, 0 or 1.", UnaryOp::sign, ResultKind::numeric, rules::zero, Saves::nothing,
    {},     {"sgn"}};
inline constexpr Unary signbit{"signbit",
                               "True where the sign is set, -0 included.",
                               UnaryOp::signbit,
                               ResultKind::boolean,
                               nullptr,
                               Saves::nothing,
                               {},
                               {},
                               false};
inline constexpr Unary silu{"silu", "x sigmoid(x).", UnaryOp::silu, ResultKind::floating,
                            rules::silu};
inline constexpr Unary sin{"sin", "Sine.", UnaryOp::sin, ResultKind::floating, rules::sin};
inline constexpr Unary sinc{"sinc",        "sin(pi x) / (pi x), 1 at 0.",
                            UnaryOp::sinc, ResultKind::floating,
                            rules::sinc,   Saves::both};
inline constexpr Unary sinh{"sinh", "Hyperbolic sine.", UnaryOp::sinh, ResultKind::floating,
                            rules::sinh};
inline constexpr Unary softplus{
    "softplus",
    "log(1 + exp(beta x)) / beta; x itself where beta x is above the threshold.",
    UnaryOp::softplus,
    ResultKind::floating,
    rules::softplus,
    Saves::inputs,
    {Parameter{"beta", 1}, Parameter{"threshold", 20}}};
inline constexpr Unary sqrt{"sqrt",      "Square root.", UnaryOp::sqrt, ResultKind::floating,
                            rules::sqrt, Saves::output};
inline constexpr Unary square{"square", "x x.", UnaryOp::square, ResultKind::numeric,
                              rules::square};
inline constexpr Unary tan{"tan",      "Tangent.",   UnaryOp::tan, ResultKind::floating,
                           rules::tan, Saves::output};
inline constexpr Unary tanh{"tanh",      "Hyperbolic tangent.", UnaryOp::tanh, ResultKind::floating,
                            rules::tanh, Saves::output};
inline constexpr Unary trunc{"trunc",
                             "The next integer towards 0.",
                             UnaryOp::trunc,
                             ResultKind::numeric,
                             rules::zero,
                             Saves::nothing,
                             {},
                             {"fix"}};

inline constexpr std::array unary_ops = {
    &abs,         &acos,       &acosh,         &angle, &asin,       &asinh,   &atan,      &atanh,
    &bitwise_not, &ceil,       &conj_physical, &cos,   &cosh,       &deg2rad, &digamma,   &erf,
    &erfc,        &erfinv,     &exp,           &exp2,  &expm1,      &floor,   &frac,      &gelu,
    &i0,          &i1,         &isfinite,      &isinf, &isnan,      &lgamma,  &log,       &log10,
    &log1p,       &log2,       &logical_not,   &logit, &nan_to_num, &neg,     &polygamma, &positive,
    &rad2deg,     &reciprocal, &relu,          &round, &rsqrt,      &sigmoid, &sign,      &signbit,
    &silu,        &sin,        &sinc,          &sinh,  &softplus,   &sqrt,    &square,    &tan,
    &tanh,        &trunc};

}  // namespace loup::ops
