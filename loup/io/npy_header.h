#pragma once

#include <string>
#include <string_view>

#include "loup/base/dims.h"
#include "loup/base/dtype.h"

// The text in the header of .npy files: a Python literal, read without evaluating anything.

namespace loup::io {

/// `{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }`
struct NpyDescription {
  DType dtype = DType::f32;
  bool is_swapped = false;
  bool is_fortran = false;
  Shape shape;
};

/// FormatError unless `text` has exactly these three keys, a dtype that loup has, and nothing but
/// white space behind.
NpyDescription parse_npy_description(std::string_view text);
/// The text as NumPy writes it, without the padding that aligns the elements. DTypeError for
/// bfloat16.
std::string npy_description(const Shape& shape, DType dtype, bool is_fortran);

}  // namespace loup::io
