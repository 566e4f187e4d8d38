#include "loup/tensor/layout.h"

#include "define.h"
#include "loup/ops/copy.h"

// How elements are stored, and conversions between dtypes: the same for tensors and masked ones.

namespace loup::python {

using namespace nb::literals;

namespace {

template <class Class>
void bind_storage_of() {
  auto type = nb::borrow<nb::class_<Class>>(nb::type<Class>());
  const std::string dense = fmt::format("def to_dense(self) -> {}", class_name_of<Class>);
  type.def_prop_ro(
          "layout", [](const Class&) { return "strided"; }, nb::sig("def layout(self) -> str"),
          "How elements are stored: 'strided'.")
      .def_prop_ro(
          "is_sparse", [](const Class&) { return false; },
          "Whether only some of the elements are stored.")
      .def(
          "is_sparse_coo", [](const Class&) { return false; },
          "Whether elements are stored with their indices.")
      .def(
          "is_sparse_csr", [](const Class&) { return false; },
          "Whether elements are stored row by row.")
      .def(
          "to_dense", [](nb::handle_t<Class> self) { return nb::borrow(self); },
          nb::sig(dense.c_str()), "The tensor itself: all its elements are stored.")
      .def(
          "element_size", [](const Class& x) { return item_bytes(x.dtype()); },
          "Bytes of one element.");
}

Tensor converted(const Tensor& x, DType dtype) { return ops::to(x, dtype); }
MaskedTensor converted(const MaskedTensor& x, DType dtype) { return x.to(dtype); }

template <class Class>
void bind_conversions_of() {
  auto type = nb::borrow<nb::class_<Class>>(nb::type<Class>());
  const auto define_conversion = [&](const char* name, const char* summary) {
    const std::string signature =
        fmt::format("def {}(self, dtype: object) -> {}", name, class_name_of<Class>);
    type.def(
        name,
        [name](const Class& x, nb::handle dtype) {
          const DType wanted = dtype_or_of(name, dtype);
          return without_gil(x.size(), [&] { return converted(x, wanted); });
        },
        "dtype"_a, nb::sig(signature.c_str()), summary);
  };
  define_conversion("to", "The elements converted to another dtype, or to that of a tensor.");
  define_conversion("type", "The same as to.");
  const auto shorthand = [&](const char* name, DType dtype) {
    type.def(name, [dtype](const Class& x) {
      return without_gil(x.size(), [&] { return converted(x, dtype); });
    });
  };
  shorthand("bool", DType::boolean);
  shorthand("int", DType::i32);
  shorthand("long", DType::i64);
  shorthand("half", DType::f16);
  shorthand("bfloat16", DType::bf16);
  shorthand("float", DType::f32);
  shorthand("double", DType::f64);
}

}  // namespace

void bind_layout() {
  bind_storage_of<Tensor>();
  bind_storage_of<MaskedTensor>();
  bind_conversions_of<Tensor>();
  bind_conversions_of<MaskedTensor>();
}

}  // namespace loup::python
