#pragma once

#include "loup/ops/binary_rules.h"
#include "loup/ops/elementwise.h"

// The list: every binary operator, described once. `symbol` is what Python calls the operator.

namespace loup::ops {

using kernels::BinaryOp;

inline constexpr Binary add{
    "add", "x + y.", BinaryOp::add, ResultKind::arithmetic, rules::add, Saves::nothing,
    {},    true,     "add"};
inline constexpr Binary atan2{
    "atan2",         "The angle of the point (y, x), in all four quadrants.",
    BinaryOp::atan2, ResultKind::floating,
    rules::atan2,    Saves::inputs,
    {"arctan2"}};
inline constexpr Binary bitwise_and{"bitwise_and",
                                    "Bits set in both.",
                                    BinaryOp::bitwise_and,
                                    ResultKind::integral,
                                    nullptr,
                                    Saves::nothing,
                                    {},
                                    true,
                                    "and"};
inline constexpr Binary bitwise_left_shift{"bitwise_left_shift",
                                           "Bits of x moved up by y places.",
                                           BinaryOp::left_shift,
                                           ResultKind::integral,
                                           nullptr,
                                           Saves::nothing,
                                           {},
                                           true,
                                           "lshift"};
inline constexpr Binary bitwise_or{"bitwise_or",
                                   "Bits set in one or both.",
                                   BinaryOp::bitwise_or,
                                   ResultKind::integral,
                                   nullptr,
                                   Saves::nothing,
                                   {},
                                   true,
                                   "or"};
inline constexpr Binary bitwise_right_shift{"bitwise_right_shift",
                                            "Bits of x moved down by y places, the sign kept.",
                                            BinaryOp::right_shift,
                                            ResultKind::integral,
                                            nullptr,
                                            Saves::nothing,
                                            {},
                                            true,
                                            "rshift"};
inline constexpr Binary bitwise_xor{"bitwise_xor",
                                    "Bits set in one of both.",
                                    BinaryOp::bitwise_xor,
                                    ResultKind::integral,
                                    nullptr,
                                    Saves::nothing,
                                    {},
                                    true,
                                    "xor"};
inline constexpr Binary div{"div",
                            "x / y.",
                            BinaryOp::div,
                            ResultKind::floating,
                            rules::div,
                            Saves::inputs,
                            {"divide", "true_divide"},
                            true,
                            "truediv"};
inline constexpr Binary eq{"eq",    "x == y.",      BinaryOp::eq, ResultKind::boolean,
                           nullptr, Saves::nothing, {"equal_to"}, true,
                           "eq"};
inline constexpr Binary floor_divide{"floor_divide",
                                     "The integer below x / y.",
                                     BinaryOp::floor_divide,
                                     ResultKind::numeric,
                                     rules::floor_divide,
                                     Saves::nothing,
                                     {},
                                     true,
                                     "floordiv"};
inline constexpr Binary fmax{"fmax",
                             "The larger number; NaN only where both are.",
                             BinaryOp::fmax,
                             ResultKind::arithmetic,
                             rules::fmax,
                             Saves::inputs,
                             {},
                             false};
inline constexpr Binary fmin{"fmin",
                             "The smaller number; NaN only where both are.",
                             BinaryOp::fmin,
                             ResultKind::arithmetic,
                             rules::fmin,
                             Saves::inputs,
                             {},
                             false};
inline constexpr Binary fmod{"fmod", "The rest of x / y, with the sign of x.", BinaryOp::fmod,
                             ResultKind::numeric, rules::fmod};
inline constexpr Binary ge{"ge",    "x >= y.",      BinaryOp::ge,      ResultKind::boolean,
                           nullptr, Saves::nothing, {"greater_equal"}, true,
                           "ge"};
inline constexpr Binary gt{"gt",    "x > y.",       BinaryOp::gt, ResultKind::boolean,
                           nullptr, Saves::nothing, {"greater"},  true,
                           "gt"};
inline constexpr Binary le{"le",    "x <= y.",      BinaryOp::le,   ResultKind::boolean,
                           nullptr, Saves::nothing, {"less_equal"}, true,
                           "le"};
inline constexpr Binary logaddexp{"logaddexp",
                                  "log(exp(x) + exp(y)).",
                                  BinaryOp::logaddexp,
                                  ResultKind::floating,
                                  rules::logaddexp,
                                  Saves::inputs,
                                  {},
                                  false};
inline constexpr Binary logaddexp2{"logaddexp2",
                                   "log2(2^x + 2^y).",
                                   BinaryOp::logaddexp2,
                                   ResultKind::floating,
                                   rules::logaddexp2,
                                   Saves::inputs,
                                   {},
                                   false};
inline constexpr Binary logical_and{"logical_and",
                                    "True where both are other than 0.",
                                    BinaryOp::logical_and,
                                    ResultKind::boolean,
                                    nullptr,
                                    Saves::nothing};
inline constexpr Binary logical_or{"logical_or",
                                   "True where one is other than 0.",
                                   BinaryOp::logical_or,
                                   ResultKind::boolean,
                                   nullptr,
                                   Saves::nothing};
inline constexpr Binary logical_xor{"logical_xor",
                                    "True where exactly one is other than 0.",
                                    BinaryOp::logical_xor,
                                    ResultKind::boolean,
                                    nullptr,
                                    Saves::nothing};
inline constexpr Binary lt{"lt",    "x < y.",       BinaryOp::lt, ResultKind::boolean,
                           nullptr, Saves::nothing, {"less"},     true,
                           "lt"};
inline constexpr Binary maximum{"maximum",
                                "The larger number; NaN where one is.",
                                BinaryOp::maximum,
                                ResultKind::arithmetic,
                                rules::maximum,
                                Saves::inputs,
                                {},
                                false};
inline constexpr Binary minimum{"minimum",
                                "The smaller number; NaN where one is.",
                                BinaryOp::minimum,
                                ResultKind::arithmetic,
                                rules::minimum,
                                Saves::inputs,
                                {},
                                false};
inline constexpr Binary mul{"mul",      "x y.",        BinaryOp::mul, ResultKind::arithmetic,
                            rules::mul, Saves::inputs, {"multiply"},  true,
                            "mul"};
inline constexpr Binary ne{"ne",    "x != y.",      BinaryOp::ne,  ResultKind::boolean,
                           nullptr, Saves::nothing, {"not_equal"}, true,
                           "ne"};
inline constexpr Binary nextafter{"nextafter",
                                  "The next number after x, towards y.",
                                  BinaryOp::nextafter,
                                  ResultKind::floating,
                                  nullptr,
                                  Saves::nothing};
inline constexpr Binary pow{"pow",
                            "x to the power of y.",
                            BinaryOp::pow,
                            ResultKind::numeric,
                            rules::pow,
                            Saves::both,
                            {},
                            true,
                            "pow"};
inline constexpr Binary remainder{"remainder",
                                  "The rest of x / y, with the sign of y.",
                                  BinaryOp::remainder,
                                  ResultKind::numeric,
                                  rules::remainder,
                                  Saves::inputs,
                                  {},
                                  true,
                                  "mod"};
inline constexpr Binary sub{"sub",      "x - y.",       BinaryOp::sub, ResultKind::numeric,
                            rules::sub, Saves::nothing, {"subtract"},  true,
                            "sub"};
inline constexpr Binary trunc_divide{
    "trunc_divide",         "The integer next to x / y, towards 0.",
    BinaryOp::trunc_divide, ResultKind::numeric,
    rules::floor_divide,    Saves::nothing};

inline constexpr std::array binary_ops = {&add,         &atan2,
                                          &bitwise_and, &bitwise_left_shift,
                                          &bitwise_or,  &bitwise_right_shift,
                                          &bitwise_xor, &div,
                                          &eq,          &floor_divide,
                                          &fmax,        &fmin,
                                          &fmod,        &ge,
                                          &gt,          &le,
                                          &logaddexp,   &logaddexp2,
                                          &logical_and, &logical_or,
                                          &logical_xor, &lt,
                                          &maximum,     &minimum,
                                          &mul,         &ne,
                                          &nextafter,   &pow,
                                          &remainder,   &sub,
                                          &trunc_divide};

}  // namespace loup::ops
