#include <cstring>
#include <memory>

#include <nanobind/stl/string.h>

#include "bindings.h"
#include "loup/base/error.h"
#include "loup/memory/refcounted_map_allocator.h"
#include "loup/ops/copy.h"
#include "loup/tensor/create.h"

// Tensors on their way to other processes; Python's half is loup/pickling.py.

namespace loup::python {

using namespace nb::literals;

namespace {

/// What another process needs to have the same memory: a descriptor, what it is, and where in it
/// the tensor lies. None when the memory is not shared.
nb::object handle_of(const Tensor& x) {
  const Storage& storage = x.storage();
  if (!storage.is_shared()) return nb::none();
  const DataPtr data{storage.data(), storage.bytes(), storage.owner(), storage.is_writable()};
  const MapAllocator* const allocator = MapAllocator::fromDataPtr(data);
  if (allocator == nullptr) return nb::none();
  int fd = -1;
  try {
    fd = allocator->descriptor();
  } catch (const StateError&) {
    return nb::none();  // it has no name any more, and no descriptor
  }
  const auto offset = x.raw_data() - static_cast<const std::byte*>(allocator->data());
  return nb::make_tuple(fd, to_string(allocator->mapping()->kind), allocator->filename(),
                        allocator->mapping()->is_read_only, offset);
}

/// The tensor of a handle. Takes the descriptor over.
Tensor tensor_from_handle(int fd, const std::string& kind, const std::string& name, bool readonly,
                          std::int64_t offset, nb::handle type, nb::handle shape,
                          nb::handle strides) {
  const DType dtype = dtype_from("tensor", type).value_or(DType::f32);
  const Layout layout{dims_from("tensor", shape), dims_from("tensor", strides), 0};
  const MapFlags access = readonly ? MapFlags::read_only : MapFlags::none;
  std::shared_ptr<MapAllocator> allocator;
  if (kind == to_string(MappingKind::segment)) {
    allocator =
        std::make_shared<RefcountedMapAllocator>(WITH_FD, name, fd, MapFlags::shared_mem | access);
  } else {
    const MapFlags how =
        kind == to_string(MappingKind::file) ? MapFlags::shared : MapFlags::shared_mem;
    allocator = std::make_shared<MapAllocator>(WITH_FD, name, fd, how | access);
  }
  const auto first = static_cast<std::size_t>(offset);
  if (offset < 0 || first > allocator->size()) {
    throw ShapeError("tensor: expected an offset inside of {} bytes, got {}", allocator->size(),
                     offset);
  }
  DataPtr data{static_cast<std::byte*>(allocator->data()) + (first == 0 ? 0 : first),
               allocator->size() - first, allocator, !allocator->mapping()->is_read_only};
  return {Storage::adopt(std::move(data)), layout, dtype};
}

nb::bytes bytes_of(const Tensor& x) {
  if (!x.is_contiguous())
    throw ShapeError("bytes: expected a contiguous tensor, got a strided one");
  return nb::bytes(x.raw_data(), static_cast<std::size_t>(x.bytes()));
}

Tensor tensor_from_bytes(const nb::bytes& content, nb::handle type, nb::handle shape) {
  const Tensor x =
      empty(dims_from("tensor", shape), dtype_from("tensor", type).value_or(DType::f32));
  if (content.size() != static_cast<std::size_t>(x.bytes())) {
    throw ShapeError("tensor: expected {} bytes for shape {} of {}, got {}", x.bytes(), x.shape(),
                     x.dtype(), content.size());
  }
  if (content.size() > 0) std::memcpy(x.raw_data(), content.data(), content.size());
  return x;
}

/// The arguments of a function of loup.pickling.
nb::tuple reduced(const char* function, const nb::object& arguments) {
  return nb::make_tuple(nb::module_::import_("loup.pickling").attr(function), arguments);
}

}  // namespace

void bind_pickling(nb::module_& m) {
  auto tensor = nb::borrow<nb::class_<Tensor>>(nb::type<Tensor>());
  tensor.def(
      "__reduce__",
      [](const Tensor& x) {
        const Tensor plain = ops::contiguous(x.detach());
        return reduced("rebuild_tensor",
                       nb::make_tuple(std::string(name(x.dtype())), tuple_of(x.shape()),
                                      bytes_of(plain), x.requires_grad()));
      },
      nb::sig("def __reduce__(self) -> tuple[typing.Any, ...]"));
  auto masked = nb::borrow<nb::class_<MaskedTensor>>(nb::type<MaskedTensor>());
  masked.def(
      "__reduce__",
      [](const MaskedTensor& x) {
        return reduced("rebuild_masked_tensor", nb::make_tuple(x.get_data(), x.get_mask()));
      },
      nb::sig("def __reduce__(self) -> tuple[typing.Any, ...]"));
  m.def("tensor_from_bytes", tensor_from_bytes, "data"_a, "dtype"_a, "shape"_a,
        nb::sig("def tensor_from_bytes(data: bytes, dtype: object, shape: tuple[int, ...]) -> "
                "Tensor"));
  m.def("tensor_handle", handle_of, "input"_a,
        nb::sig("def tensor_handle(input: Tensor) -> tuple[int, str, str, bool, int] | None"));
  m.def("tensor_from_handle", tensor_from_handle, "fd"_a, "kind"_a, "name"_a, "readonly"_a,
        "offset"_a, "dtype"_a, "shape"_a, "strides"_a,
        nb::sig("def tensor_from_handle(fd: int, kind: str, name: str, readonly: bool, offset: "
                "int, dtype: object, shape: tuple[int, ...], strides: tuple[int, ...]) -> "
                "Tensor"));
}

}  // namespace loup::python
