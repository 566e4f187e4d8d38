#pragma once

namespace loup::kernels {

// Functions that the standard library does not have, or not in a form that threads may share.
// Errors stay within a few units in the last place, away from zeros between poles.

/// log|gamma(x)|; +inf at 0, -1, -2, … and at both infinities.
double log_gamma(double x);

/// The derivative of log_gamma; -inf at 0, +inf at -0, NaN at the other poles and at -inf.
double digamma(double x);

/// The derivative of digamma of an order n >= 0 (a whole number): infinite at 0, -1, -2, …
double polygamma(double n, double x);

/// Modified Bessel functions of the first kind, of orders 0 and 1.
double bessel_i0(double x);
double bessel_i1(double x);

/// The inverse of erf; ±inf at ±1, NaN beyond.
double erfinv(double x);

}  // namespace loup::kernels
