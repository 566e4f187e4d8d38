#include <type_traits>

#include "loup/kernels/copy.h"
#include "loup/kernels/planes.h"
#include "loup/kernels/sum_of.h"

namespace loup::kernels {

namespace {

/// A stride that the compiler knows, so that it can use vectors.
template <std::int64_t value>
using Step = std::integral_constant<std::int64_t, value>;

/// Where masks are bytes side by side and the operands contiguous or constant, as they mostly are.
template <class T, class YesStep, class NoStep>
void select_run(T* out, const std::uint8_t* chooses, const T* yes, YesStep yes_step, const T* no,
                NoStep no_step, std::int64_t count) {
  for (std::int64_t c = 0; c < count; ++c) {
    const T first = yes[c * yes_step];
    const T second = no[c * no_step];
    out[c] = chooses[c] != 0 ? first : second;
  }
}

}  // namespace

void select(const Shape& shape, const Array& to, const Array& mask, const Array& yes,
            const Array& no) {
  visit_dtype(to.dtype, [&]<class T>(std::type_identity<T>) {
    for_each_row<4>(shape, {&to, &mask, &yes, &no}, [](const auto& at, const auto& cols) {
      T* const out = reinterpret_cast<T*>(at[0]);
      const auto* const chooses = reinterpret_cast<const std::uint8_t*>(at[1]);
      const T* const first = reinterpret_cast<const T*>(at[2]);
      const T* const second = reinterpret_cast<const T*>(at[3]);
      const auto& [to_step, mask_step, yes_step, no_step] = cols.step;
      if (to_step == 1 && mask_step == 1 && yes_step == 0 && no_step == 0) {
        return select_run(out, chooses, first, Step<0>(), second, Step<0>(), cols.size);
      }
      if (to_step == 1 && mask_step == 1 && yes_step == 1 && no_step == 0) {
        return select_run(out, chooses, first, Step<1>(), second, Step<0>(), cols.size);
      }
      for (std::int64_t c = 0; c < cols.size; ++c) {
        out[c * cols.step[0]] =
            chooses[c * cols.step[1]] != 0 ? first[c * cols.step[2]] : second[c * cols.step[3]];
      }
    });
  });
}

void add(const Shape& shape, const Array& to, const Array& a, const Array& b) {
  visit_dtype(to.dtype, [&]<class T>(std::type_identity<T>) {
    for_each_row<3>(shape, {&to, &a, &b}, [](const auto& at, const auto& cols) {
      T* const out = reinterpret_cast<T*>(at[0]);
      const T* const left = reinterpret_cast<const T*>(at[1]);
      const T* const right = reinterpret_cast<const T*>(at[2]);
      for (std::int64_t c = 0; c < cols.size; ++c) {
        out[c * cols.step[0]] = sum_of(left[c * cols.step[1]], right[c * cols.step[2]]);
      }
    });
  });
}

void logical_and(const Shape& shape, const Array& to, const Array& a, const Array& b) {
  for_each_row<3>(shape, {&to, &a, &b}, [](const auto& at, const auto& cols) {
    const auto* const left = reinterpret_cast<const std::uint8_t*>(at[1]);
    const auto* const right = reinterpret_cast<const std::uint8_t*>(at[2]);
    for (std::int64_t c = 0; c < cols.size; ++c) {
      const bool both = left[c * cols.step[1]] != 0 && right[c * cols.step[2]] != 0;
      reinterpret_cast<std::uint8_t*>(at[0])[c * cols.step[0]] = both ? 1 : 0;
    }
  });
}

}  // namespace loup::kernels
