#include "loup/ops/windows.h"

#include "define.h"
#include "loup/masked/scatter.h"

namespace loup::python {

using namespace nb::literals;

namespace {

ops::WindowOptions window_options_from(const char* operation, nb::handle dilation,
                                       nb::handle padding, nb::handle stride) {
  return {dims_from(operation, dilation), dims_from(operation, padding),
          dims_from(operation, stride)};
}

}  // namespace

void bind_windows(nb::module_& m) {
  define_alike(
      m, "unfold",
      [](nb::handle input, nb::handle dim, nb::handle size, nb::handle step) {
        const TensorArgument x("unfold", input);
        return ops::unfold(*x, integer_from("unfold", dim), integer_from("unfold", size),
                           integer_from("unfold", step));
      },
      "dim"_a, "size"_a, "step"_a);
  define_alike(
      m, "im2col",
      [](nb::handle input, nb::handle kernel_size, nb::handle dilation, nb::handle padding,
         nb::handle stride) {
        const TensorArgument x("im2col", input);
        const Dims kernel = dims_from("im2col", kernel_size);
        const ops::WindowOptions options = window_options_from("im2col", dilation, padding, stride);
        return without_gil(x->size(), [&] { return ops::im2col(*x, kernel, options); });
      },
      "kernel_size"_a, "dilation"_a = 1, "padding"_a = 0, "stride"_a = 1);
  define(
      m, "col2im",
      [](nb::handle input, nb::handle output_size, nb::handle kernel_size, nb::handle dilation,
         nb::handle padding, nb::handle stride) {
        const Dims size = dims_from("col2im", output_size);
        const Dims kernel = dims_from("col2im", kernel_size);
        const ops::WindowOptions options = window_options_from("col2im", dilation, padding, stride);
        return with_input("col2im", input, [&](const auto& x) {
          using masked::col2im;  // both: x decides
          using ops::col2im;
          return col2im(x, size, kernel, options);
        });
      },
      "output_size"_a, "kernel_size"_a, "dilation"_a = 1, "padding"_a = 0, "stride"_a = 1);
}

}  // namespace loup::python
