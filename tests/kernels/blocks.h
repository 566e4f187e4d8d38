#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "loup/kernels/reduce.h"
#include "tests/kernels/sum_model.h"
#include "tests/support/random.h"

namespace loup::test {

enum class MaskForm { none, per_row, bytes, one_row };
inline const std::vector<MaskForm> mask_forms = {MaskForm::none, MaskForm::per_row, MaskForm::bytes,
                                                 MaskForm::one_row};

/// A block with its own memory: gaps between rows hold garbage that must not matter.
template <class T>
class TestBlock {
 public:
  TestBlock(Random& random, std::int64_t rows, std::int64_t cols, MaskForm form,
            std::int64_t gap = 0)
      : rows_(rows), cols_(cols), row_(cols + gap), form_(form) {
    x_ = random.values<T>(rows * row_ + 1);
    if (form == MaskForm::bytes) mask_ = random.mask_bytes(rows * row_ + 1, 0.6);
    if (form == MaskForm::one_row) mask_ = random.mask_bytes(cols + 1, 0.6);
    if (form == MaskForm::per_row) mask_ = random.mask_bytes(rows * 3 + 1, 0.6);
  }

  kernels::Block block() const {
    kernels::Block b{x_.data(), row_, nullptr, 0, 0, rows_, cols_};
    if (form_ != MaskForm::none) b.mask = mask_.data();
    if (form_ == MaskForm::per_row) b.mask_row = 3;
    if (form_ == MaskForm::bytes) b.mask_row = row_;
    b.mask_col = form_ == MaskForm::bytes || form_ == MaskForm::one_row ? 1 : 0;
    return b;
  }

  bool counts(std::int64_t r, std::int64_t c) const {
    switch (form_) {
      case MaskForm::none: return true;
      case MaskForm::per_row: return mask_[at(r * 3)] != 0;
      case MaskForm::bytes: return mask_[at(r * row_ + c)] != 0;
      case MaskForm::one_row: return mask_[at(c)] != 0;
    }
    return false;
  }

  Counted<T> row(std::int64_t r) const {
    Counted<T> result;
    for (std::int64_t c = 0; c < cols_; ++c) {
      result.push_back(counts(r, c) ? x_[at(r * row_ + c)] : T{});
    }
    return result;
  }
  /// Rows [first, first + 8) of a column.
  Counted<T> tile(std::int64_t first, std::int64_t c) const {
    Counted<T> result;
    for (std::int64_t r = first; r < std::min(rows_, first + 8); ++r) {
      result.push_back(counts(r, c) ? x_[at(r * row_ + c)] : T{});
    }
    return result;
  }

  /// Writes what `value()` gives into every element, and into the gaps.
  template <class Value>
  void refill(Value&& value) {
    std::generate(x_.begin(), x_.end(), value);
  }

  /// Writes what `garbage()` gives wherever an element does not count, and into the gaps.
  template <class Garbage>
  void poison(Garbage&& garbage) {
    for (std::int64_t i = 0; i < std::ssize(x_); ++i) {
      const std::int64_t r = row_ == 0 ? 0 : i / row_;
      const std::int64_t c = row_ == 0 ? 0 : i % row_;
      if (r >= rows_ || c >= cols_ || !counts(r, c)) x_[at(i)] = garbage();
    }
  }

  std::string text() const {
    return fmt::format("{} x {} block, rows {} apart, mask form {}", rows_, cols_, row_,
                       static_cast<int>(form_));
  }

 private:
  static std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

  std::int64_t rows_, cols_, row_;
  MaskForm form_;
  std::vector<T> x_;
  std::vector<std::uint8_t> mask_;
};

template <class T>
const kernels::Reducer& sum_reducer() {
  return kernels::reducer(kernels::ReduceOp::sum, compute_type(dtype_of<T>()));
}

/// Fresh states of a reducer, in memory of their own.
class StateBuffer {
 public:
  StateBuffer(const kernels::Reducer& reducer, std::int64_t count)
      : reducer_(reducer),
        count_(count),
        bytes_((reducer.state_bytes * static_cast<std::size_t>(count) + 7) / 8) {
    reducer.init(bytes_.data(), count);
  }
  kernels::States from(std::int64_t first) { return {bytes_.data(), count_, first}; }
  void* data() { return bytes_.data(); }
  template <class Result>
  std::vector<Result> finish() const {
    std::vector<Result> results(static_cast<std::size_t>(count_));
    reducer_.finish(bytes_.data(), results.data(), count_, 0);
    return results;
  }

 private:
  const kernels::Reducer& reducer_;
  std::int64_t count_;
  std::vector<std::uint64_t> bytes_;
};

template <class T>
std::vector<typename SumModel<T>::Result> sum_along(const kernels::Block& block) {
  StateBuffer states(sum_reducer<T>(), block.rows);
  sum_reducer<T>().along(states.from(0), false, block);
  return states.template finish<typename SumModel<T>::Result>();
}

template <class T>
std::vector<typename SumModel<T>::Result> sum_across(const kernels::Block& block) {
  StateBuffer states(sum_reducer<T>(), block.cols);
  sum_reducer<T>().across(states.from(0), block);
  return states.template finish<typename SumModel<T>::Result>();
}

template <class T>
std::vector<typename SumModel<T>::Result> model_along(const TestBlock<T>& block) {
  std::vector<typename SumModel<T>::Result> results;
  for (std::int64_t r = 0; r < block.block().rows; ++r) {
    SumModel<T> model;
    model.add_row(block.row(r));
    results.push_back(model.finish());
  }
  return results;
}

template <class T>
std::vector<typename SumModel<T>::Result> model_across(const TestBlock<T>& block) {
  std::vector<typename SumModel<T>::Result> results;
  for (std::int64_t c = 0; c < block.block().cols; ++c) {
    SumModel<T> model;
    for (std::int64_t r = 0; r < block.block().rows; r += 8) model.add_tile(block.tile(r, c));
    results.push_back(model.finish());
  }
  return results;
}

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

}  // namespace loup::test
