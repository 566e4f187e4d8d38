#include "loup/ops/windows.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "loup/autograd/node.h"
#include "loup/base/error.h"
#include "loup/kernels/copy.h"
#include "loup/kernels/elementwise.h"
#include "loup/ops/copy.h"
#include "loup/ops/views.h"
#include "loup/tensor/create.h"
#include "loup/tensor/views.h"

// Taking windows out of a tensor and adding them up again are each other's gradients. Both are done
// place by place: all first elements of windows at once, then all second ones, and so on. Those lie
// side by side in the tensor as in the windows, they do not overlap, and the order in which sums
// are made depends on nothing else.

namespace loup::ops {

using autograd::Gradient;
using autograd::Saved;

namespace {

/// Windows along one dim.
struct Window {
  int dim;
  std::int64_t length;  // of the dim
  std::int64_t size;
  std::int64_t step;
  std::int64_t dilation;
  std::int64_t padding;

  std::int64_t count() const {
    return (length + 2 * padding - dilation * (size - 1) - 1) / step + 1;
  }
};

/// The same place of all windows, counted along a dim: those from `first` to `last` have it inside
/// of the tensor, at `start` and every step further.
struct WindowPlace {
  std::int64_t first, last, start;
};
WindowPlace window_place(const Window& window, std::int64_t k) {
  const std::int64_t offset = k * window.dilation - window.padding;
  const std::int64_t behind = window.length - offset;
  const std::int64_t first = offset < 0 ? (window.step - 1 - offset) / window.step : 0;
  const std::int64_t end = behind > 0 ? (behind - 1) / window.step + 1 : 0;
  const std::int64_t last = std::clamp(end, std::min(first, window.count()), window.count());
  return {std::min(first, last), last, offset + first * window.step};
}

Layout window_part(const Layout& image, const Window& window, const WindowPlace& place) {
  Layout result = image;
  result.shape[window.dim] = place.last - place.first;
  result.strides[window.dim] *= window.step;
  if (place.last > place.first) result.offset += place.start * image.strides[window.dim];
  return result;
}

/// Calls visit(elements, columns) for every place of a window, and outside(columns) for what lies
/// in the padding. The columns have the dims of the image, which count windows, and behind them one
/// for each of the windows' sizes.
template <class Visit, class Outside>
void visit_places(std::span<const Window> windows, const Layout& image, const Layout& columns,
                  const Visit& visit, const Outside& outside) {
  if (windows.empty()) return visit(image, columns);
  const Window& window = windows.front();
  for (std::int64_t k = 0; k < window.size; ++k) {
    const WindowPlace place = window_place(window, k);
    const Layout here = loup::select(columns, image.shape.size(), k);
    const auto range = [&](std::int64_t first, std::int64_t last) {
      return loup::narrow(here, window.dim, first, last - first);
    };
    if (place.first > 0) outside(range(0, place.first));
    if (place.last < window.count()) outside(range(place.last, window.count()));
    if (place.first == place.last) continue;
    visit_places(windows.subspan(1), window_part(image, window, place),
                 range(place.first, place.last), visit, outside);
  }
}

/// Writes the windows of `image` into `columns`.
void write_windows(std::span<const Window> windows, const Tensor& image, const Tensor& columns) {
  const Tensor zero = zeros({}, image.dtype());
  visit_places(
      windows, image.layout(), columns.layout(),
      [&](const Layout& from, const Layout& to) {
        kernels::copy(to.shape, columns.with_layout(to).array(), image.with_layout(from).array());
      },
      [&](const Layout& to) {
        const Array nothing{zero.raw_data(), zero.dtype(), Dims::filled(to.shape.size(), 0)};
        kernels::copy(to.shape, columns.with_layout(to).array(), nothing);
      });
}

/// A tensor of `shape` with the elements of `columns` added up; true or true is true.
Tensor sum_of_windows(std::span<const Window> windows, const Tensor& columns, const Shape& shape) {
  const DType dtype = columns.dtype();
  const bool is_half = dtype == DType::f16 || dtype == DType::bf16;
  const Tensor sum = zeros(shape, is_half ? DType::f32 : dtype);
  const auto& kernel = dtype == DType::boolean
                           ? *kernels::find_boolean(kernels::BinaryOp::logical_or)
                           : *kernels::find_binary(kernels::BinaryOp::add, compute_type(dtype));
  visit_places(
      windows, sum.layout(), columns.layout(),
      [&](const Layout& to, const Layout& from) {
        const std::array inputs{sum.with_layout(to).array(), columns.with_layout(from).array()};
        kernels::elementwise(kernel, to.shape, inputs[0], inputs);
      },
      [](const Layout& /*padding*/) {});
  return to(sum, dtype);
}

// --- gradients ---

/// What moves the elements of a gradient moves its mask.
template <class Move>
std::vector<Gradient> moved(const Gradient& g, const Move& move) {
  Gradient result{move(g.value), {}};
  if (g.mask) result.mask = move(*g.mask);
  return {result};
}

/// Only what is live is added up, and a sum is live where something arrived.
template <class Sum>
std::vector<Gradient> summed_gradient(const Gradient& g, const Sum& sum) {
  Gradient result{sum(autograd::materialize(g)), {}};
  if (g.mask) result.mask = sum(*g.mask);
  return {result};
}

// --- along one dim ---

Tensor sum_of_unfolded(const Tensor& x, const Shape& shape, int dim, std::int64_t step) {
  // A step beyond the end has no second window whose distance could matter, and might overflow.
  const Window window{dim, shape[dim], x.shape().back(), std::min(step, shape[dim] + 1), 1, 0};
  Tensor result = sum_of_windows({&window, 1}, x, shape);
  if (autograd::is_recorded(x)) {
    autograd::record("unfold", result, {x}, {}, [=](const Saved&, const Gradient& g) {
      return moved(g, [&](const Tensor& t) { return unfold(t, dim, window.size, step); });
    });
  }
  return result;
}

// --- images ---

constexpr std::int64_t largest_size = std::numeric_limits<std::int32_t>::max();

/// One number for each of the two dims of an image.
Dims pair_of(const char* operation, const char* name, const Dims& given, std::int64_t least) {
  if (given.size() != 1 && given.size() != 2) {
    throw ValueError("{}: expected {} as one or two integers, got {}", operation, name, given);
  }
  for (const std::int64_t value : given) {
    if (value < least || value > largest_size) {
      throw ValueError("{}: expected {} from {} to {}, got {}", operation, name, least,
                       largest_size, value);
    }
  }
  return {given[0], given.back()};
}

/// What im2col and col2im have in common: sizes and options, checked.
struct Columns {
  Dims kernel;
  Dims dilation;
  Dims padding;
  Dims stride;

  Columns(const char* operation, const Dims& kernel_size, const WindowOptions& options)
      : kernel(pair_of(operation, "kernel_size", kernel_size, 1)),
        dilation(pair_of(operation, "dilation", options.dilation, 1)),
        padding(pair_of(operation, "padding", options.padding, 0)),
        stride(pair_of(operation, "stride", options.stride, 1)) {}

  WindowOptions options() const { return {dilation, padding, stride}; }

  /// The windows of images of `shape`, whose last two dims are height and width.
  std::array<Window, 2> windows(const char* operation, const Shape& shape) const {
    std::array<Window, 2> result{};
    for (int i = 0; i < 2; ++i) {
      const int dim = shape.size() - 2 + i;
      result[static_cast<std::size_t>(i)] = {dim,       shape[dim],  kernel[i],
                                             stride[i], dilation[i], padding[i]};
      const std::int64_t reach = dilation[i] * (kernel[i] - 1) + 1;
      if (shape[dim] + 2 * padding[i] < reach) {
        throw ShapeError(
            "{}: expected images that windows of {} elements fit into, got {} elements in dim {} "
            "with padding",
            operation, reach, shape[dim] + 2 * padding[i], dim);
      }
    }
    return result;
  }

  /// (…, C k0 k1, L) as (…, C, L0, L1, k0, k1): the columns of visit_places().
  Layout cut(const Layout& columns, std::span<const Window> windows) const {
    const int last = columns.shape.size() - 1;
    const Strides& steps = columns.strides;
    Layout result = columns;
    result.shape[last - 1] /= kernel[0] * kernel[1];
    result.strides[last - 1] *= kernel[0] * kernel[1];
    result.shape[last] = windows[0].count();
    result.strides[last] *= windows[1].count();
    result.shape.push_back(windows[1].count());
    result.strides.push_back(steps[last]);
    for (int i = 0; i < 2; ++i) result.shape.push_back(kernel[i]);
    result.strides.push_back(steps[last - 1] * kernel[1]);
    result.strides.push_back(steps[last - 1]);
    return result;
  }
};

void check_image_dims(const char* operation, const char* what, const Shape& shape, int least) {
  if (shape.size() != least && shape.size() != least + 1) {
    throw ShapeError("{}: expected {} of {} or {} dims, got shape {}", operation, what, least,
                     least + 1, shape);
  }
}

}  // namespace

Tensor unfold(const Tensor& x, std::int64_t dim, std::int64_t size, std::int64_t step) {
  if (x.ndim() == 0) {
    loup::unfold(x.layout(), dim, size, step);  // checks
    return select(unfold(unsqueeze(x, 0), 0, size, step), 0, 0);
  }
  Tensor result = x.with_layout(loup::unfold(x.layout(), dim, size, step));
  if (autograd::is_recorded(x)) {
    const int d = normalize_dim("unfold", dim, x.ndim());
    autograd::record("unfold", result, {x}, {},
                     [=, shape = x.shape()](const Saved&, const Gradient& g) {
                       return summed_gradient(
                           g, [&](const Tensor& t) { return sum_of_unfolded(t, shape, d, step); });
                     });
  }
  return result;
}

Tensor im2col(const Tensor& x, const Dims& kernel_size, const WindowOptions& options) {
  const Columns call("im2col", kernel_size, options);
  check_image_dims("im2col", "images", x.shape(), 3);
  const std::array<Window, 2> windows = call.windows("im2col", x.shape());
  Shape shape = x.shape();
  shape.erase(shape.size() - 1);
  const int last = shape.size() - 1;
  shape[last - 1] = element_count({shape[last - 1], call.kernel[0], call.kernel[1]});
  shape[last] = element_count({windows[0].count(), windows[1].count()});
  Tensor result = empty(shape, x.dtype());
  write_windows(windows, x, result.with_layout(call.cut(result.layout(), windows)));
  if (autograd::is_recorded(x)) {
    const Dims size{windows[0].length, windows[1].length};
    autograd::record("im2col", result, {x}, {}, [=](const Saved&, const Gradient& g) {
      return summed_gradient(
          g, [&](const Tensor& t) { return col2im(t, size, call.kernel, call.options()); });
    });
  }
  return result;
}

Tensor col2im(const Tensor& x, const Dims& output_size, const Dims& kernel_size,
              const WindowOptions& options) {
  const Columns call("col2im", kernel_size, options);
  const Dims size = pair_of("col2im", "output_size", output_size, 0);
  check_image_dims("col2im", "columns", x.shape(), 2);
  const int last = x.ndim() - 1;
  const std::int64_t rows = call.kernel[0] * call.kernel[1];
  if (x.shape()[last - 1] % rows != 0) {
    throw ShapeError("col2im: expected a multiple of {} rows, got shape {}", rows, x.shape());
  }
  Shape shape = x.shape();
  shape[last - 1] /= rows;
  shape[last] = size[0];
  shape.push_back(size[1]);
  const std::array<Window, 2> windows = call.windows("col2im", shape);
  const std::int64_t count = element_count({windows[0].count(), windows[1].count()});
  if (x.shape()[last] != count) {
    throw ShapeError("col2im: expected {} columns for images of {}, got shape {}", count, size,
                     x.shape());
  }
  Tensor result = sum_of_windows(windows, x.with_layout(call.cut(x.layout(), windows)), shape);
  if (autograd::is_recorded(x)) {
    autograd::record("col2im", result, {x}, {}, [=](const Saved&, const Gradient& g) {
      return moved(g, [&](const Tensor& t) { return im2col(t, call.kernel, call.options()); });
    });
  }
  return result;
}

}  // namespace loup::ops
