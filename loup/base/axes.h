#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>

#include "loup/base/dims.h"

namespace loup {

/// One loop over K operands at once: its length, and each operand's step in elements.
template <std::size_t K>
struct Axis {
  std::int64_t size;
  std::array<std::int64_t, K> step;
};

/// Where each of K operands stands, in elements.
template <std::size_t K>
using Offsets = std::array<std::int64_t, K>;

/// A nest of loops over K strided operands, outermost first. Axes of size 1 are left out.
template <std::size_t K>
class Axes {
 public:
  // Eight axes are large: they stay uninitialised until they are pushed.
  // NOLINTNEXTLINE(modernize-use-equals-default): a defaulted one may zero all of it
  Axes() {}

  int size() const { return count_; }
  bool empty() const { return count_ == 0; }
  const Axis<K>& operator[](int i) const { return axes_[static_cast<std::size_t>(i)]; }
  /// The innermost axis, or one of size 1.
  Axis<K> innermost() const { return count_ > 0 ? (*this)[count_ - 1] : Axis<K>{1, {}}; }

  void push(const Axis<K>& axis) {
    if (axis.size != 1) axes_[static_cast<std::size_t>(count_++)] = axis;
  }

  /// Removes and returns the innermost axis.
  Axis<K> pop() {
    const Axis<K> axis = innermost();
    if (count_ > 0) --count_;
    return axis;
  }

  /// Removes and returns axis i.
  Axis<K> take(int i) {
    const Axis<K> axis = (*this)[i];
    std::copy(axes_.begin() + i + 1, axes_.begin() + count_, axes_.begin() + i);
    --count_;
    return axis;
  }

  /// Puts the axis with the smallest step of operand `k` innermost. Axes that stand still repeat
  /// what lies inside of them, so they go outermost.
  void sort_by_step(std::size_t k) {
    if (count_ < 2) return;
    const auto rank = [k](const Axis<K>& axis) {
      return axis.step[k] == 0 ? INT64_MAX : std::abs(axis.step[k]);
    };
    std::stable_sort(axes_.begin(), axes_.begin() + count_,
                     [&](const Axis<K>& a, const Axis<K>& b) { return rank(a) > rank(b); });
  }

  /// Makes one loop of neighbours whose elements follow each other in every operand.
  void merge() {
    if (count_ < 2) return;
    int last = 0;
    for (int i = 1; i < count_; ++i) {
      Axis<K>& outer = axes_[static_cast<std::size_t>(last)];
      const Axis<K>& inner = axes_[static_cast<std::size_t>(i)];
      bool joins = true;
      for (std::size_t k = 0; k < K; ++k) joins &= outer.step[k] == inner.size * inner.step[k];
      if (joins) {
        outer = {outer.size * inner.size, inner.step};
      } else {
        axes_[static_cast<std::size_t>(++last)] = inner;
      }
    }
    count_ = last + 1;
  }

  /// How many times the innermost body runs.
  std::int64_t iterations() const {
    std::int64_t count = 1;
    for (int i = 0; i < count_; ++i) count *= (*this)[i].size;
    return count;
  }

  /// Adds to `offsets` where iteration `i` stands, counted row-major.
  void advance(std::int64_t i, Offsets<K>& offsets) const {
    for (int a = count_; a-- > 0 && i != 0;) {
      const Axis<K>& axis = (*this)[a];
      const std::int64_t rest = i / axis.size;
      const std::int64_t here = i - rest * axis.size;
      for (std::size_t k = 0; k < K; ++k) offsets[k] += here * axis.step[k];
      i = rest;
    }
  }

 private:
  std::array<Axis<K>, max_ndim> axes_;
  int count_ = 0;
};

}  // namespace loup
