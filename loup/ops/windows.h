#pragma once

#include <cstdint>

#include "loup/ops/function.h"
#include "loup/tensor/tensor.h"

// Windows that slide over dims: as a view, as columns of a matrix, and added up again.

namespace loup::ops {

/// A view in which `dim` counts windows of `size` elements, each `step` elements after the one
/// before; what is in a window is a new last dim. Where windows overlap the view cannot be written,
/// and the gradient of an element is the sum over its windows. A 0-d tensor is one window.
/// ValueError unless 0 <= size <= the dim's, and step > 0.
LOUP_EXPORT Tensor unfold(const Tensor& x, std::int64_t dim, std::int64_t size, std::int64_t step);

/// One number for both dims of an image, or one for each.
struct WindowOptions {
  Dims dilation = 1;  // from one element of a window to the next
  Dims padding = 0;   // zeros around the image
  Dims stride = 1;    // from one window to the next
};

/// The windows of images (C, H, W) or (N, C, H, W) as columns: (C k0 k1, L) or (N, C k0 k1, L) for
/// L windows, in row-major order. ValueError for sizes and options out of range, ShapeError when
/// there is no image or not a single window in it.
LOUP_EXPORT Tensor im2col(const Tensor& x, const Dims& kernel_size,
                          const WindowOptions& options = {});
/// Images of `output_size` in which each element is the sum of its places in the columns, those of
/// im2col; what lies in the padding is dropped. Errors as for im2col, and ShapeError when there are
/// not as many columns and rows as that would give.
LOUP_EXPORT Tensor col2im(const Tensor& x, const Dims& output_size, const Dims& kernel_size,
                          const WindowOptions& options = {});

inline constexpr Function window_functions[] = {
    {"unfold", "(input: object, dim: int, size: int, step: int) -> Tensor",
     "A view of windows that slide along one dim, with their elements as the last dim.", true,
     false, Masks::alike},
    {"im2col",
     "(input: object, kernel_size: int | collections.abc.Sequence[int], dilation: int | "
     "collections.abc.Sequence[int] = 1, padding: int | collections.abc.Sequence[int] = 0, stride: "
     "int | collections.abc.Sequence[int] = 1) -> Tensor",
     "The windows of images as columns of matrices: torch.nn.functional.unfold.", true, false,
     Masks::alike},
    {"col2im",
     "(input: object, output_size: int | collections.abc.Sequence[int], kernel_size: int | "
     "collections.abc.Sequence[int], dilation: int | collections.abc.Sequence[int] = 1, padding: "
     "int | collections.abc.Sequence[int] = 0, stride: int | collections.abc.Sequence[int] = 1) -> "
     "Tensor",
     "Images from columns, overlaps added up: torch.nn.functional.fold.", true, false,
     Masks::taken},
};

}  // namespace loup::ops
