#include "loup/io/dlpack.h"

#include <bit>
#include <memory>
#include <utility>

#include "loup/base/error.h"

namespace loup::dlpack {

namespace {

DataType type_of(DType dtype) {
  const auto bits = static_cast<std::uint8_t>(8 * item_bytes(dtype));
  TypeCode code = type_int;
  if (dtype == DType::boolean) code = type_bool;
  if (dtype == DType::u8) code = type_uint;
  if (dtype == DType::bf16) code = type_bfloat;
  if (is_floating(dtype) && dtype != DType::bf16) code = type_float;
  return {code, bits, 1};
}

DType dtype_of_type(const DataType& type) {
  for (int i = 0; i < dtype_count; ++i) {
    const auto dtype = static_cast<DType>(i);
    const DataType candidate = type_of(dtype);
    if (candidate.code == type.code && candidate.bits == type.bits && type.lanes == 1) return dtype;
  }
  throw DTypeError(
      "from_dlpack: expected bool, uint8, int8 to int64, float16, bfloat16, float32 or "
      "float64, got DLPack type code {} with {} bits and {} lanes",
      int{type.code}, int{type.bits}, type.lanes);
}

/// Calls the exporter's deleter when the last handle is gone.
template <class Managed>
class Loan : public MemoryContext {
 public:
  explicit Loan(Managed* managed) : managed_(managed) {}
  Loan(const Loan&) = delete;
  Loan& operator=(const Loan&) = delete;
  ~Loan() override {
    if (managed_->deleter != nullptr) managed_->deleter(managed_);
  }

 private:
  Managed* managed_;
};

/// Everything about the elements but who owns them.
struct Description {
  Layout layout;
  DType dtype;
  DataPtr data;
};

Description description_of(const DLTensor& from, bool is_writable) {
  if (from.device.device_type != device_cpu) {
    throw ValueError(
        "from_dlpack: expected memory of the CPU, got DLPack device type {}; copy it to "
        "the CPU first",
        from.device.device_type);
  }
  if (from.ndim < 0 || from.ndim > max_ndim) {
    throw ShapeError("from_dlpack: expected at most {} dimensions, got {}", max_ndim, from.ndim);
  }
  Description result{{}, dtype_of_type(from.dtype), {}};
  for (int i = 0; i < from.ndim; ++i) result.layout.shape.push_back(from.shape[i]);
  const std::int64_t count = element_count(result.layout.shape);
  result.layout.strides = contiguous_strides(result.layout.shape);
  if (from.strides != nullptr) {
    for (int i = 0; i < from.ndim; ++i) result.layout.strides[i] = from.strides[i];
  }
  result.data.is_writable = is_writable;
  if (count == 0) return result;
  if (from.data == nullptr) {
    throw ValueError("from_dlpack: expected the address of {} elements, got a null pointer", count);
  }

  // Negative strides reach below the first element; storage starts at the lowest one.
  std::int64_t below = 0;
  std::int64_t above = 0;
  std::int64_t reach = 0;
  bool overflows = false;
  for (int i = 0; i < from.ndim; ++i) {
    overflows |=
        __builtin_mul_overflow(result.layout.shape[i] - 1, result.layout.strides[i], &reach);
    std::int64_t& end = reach < 0 ? below : above;
    overflows |= __builtin_add_overflow(end, reach, &end);
  }
  const std::int64_t bytes = item_bytes(result.dtype);
  std::int64_t span = 0;
  overflows |= __builtin_sub_overflow(above, below, &span);
  overflows |= __builtin_add_overflow(span, 1, &span);
  overflows |= __builtin_mul_overflow(span, bytes, &span);
  if (overflows) {
    throw ShapeError(
        "from_dlpack: expected strides inside of an address space, got shape {} and "
        "strides {}",
        result.layout.shape, result.layout.strides);
  }
  auto* const first = static_cast<std::byte*>(from.data) + from.byte_offset;
  if (std::bit_cast<std::uintptr_t>(first) % static_cast<std::uintptr_t>(bytes) != 0) {
    throw ValueError(
        "from_dlpack: expected {} elements aligned to {} bytes, got an address that is "
        "not; copy them first",
        result.dtype, bytes);
  }
  result.layout.offset = -below;
  result.data.data = first + below * bytes;
  result.data.bytes = static_cast<std::size_t>(span);
  return result;
}

template <class Managed>
Tensor adopt(Managed* managed, bool is_writable) {
  Description from = description_of(managed->dl_tensor, is_writable);
  from.data.owner = std::make_shared<Loan<Managed>>(managed);
  return {Tensor::Unchecked{}, Storage::adopt(std::move(from.data)), from.layout, from.dtype};
}

/// What an exported tensor keeps alive.
template <class Managed>
struct Export {
  Managed managed{};
  Tensor tensor;
  Shape shape;
  Strides strides;
};

template <class Managed>
Managed* lend(const Tensor& x) {
  if (x.requires_grad()) {
    throw StateError(
        "to_dlpack: expected a tensor without a gradient record, got one that requires "
        "grad; detach it first");
  }
  auto* const loan = new Export<Managed>{{}, x, x.shape(), x.strides()};
  loan->managed.manager_ctx = loan;
  loan->managed.deleter = [](Managed* self) {
    delete static_cast<Export<Managed>*>(self->manager_ctx);
  };
  loan->managed.dl_tensor = {
      x.raw_data(),        {device_cpu, 0},       x.ndim(), type_of(x.dtype()),
      loan->shape.begin(), loan->strides.begin(), 0};
  return &loan->managed;
}

}  // namespace

Tensor from_dlpack(ManagedTensorVersioned* managed) {
  if (managed->version.major != version.major) {
    throw ValueError("from_dlpack: expected DLPack version {}, got {}.{}", version.major,
                     managed->version.major, managed->version.minor);
  }
  return adopt(managed, (managed->flags & read_only) == 0);
}

Tensor from_dlpack(ManagedTensor* managed) { return adopt(managed, true); }

ManagedTensorVersioned* to_dlpack(const Tensor& x, std::uint64_t flags) {
  auto* const managed = lend<ManagedTensorVersioned>(x);
  managed->version = version;
  managed->flags = flags | (x.storage().is_writable() ? 0 : std::uint64_t{read_only});
  return managed;
}

ManagedTensor* to_dlpack_unversioned(const Tensor& x) {
  if (!x.storage().is_writable()) {
    throw ValueError(
        "to_dlpack: expected a consumer of DLPack 1 for a read-only tensor, got one of "
        "the form before; clone the tensor first");
  }
  return lend<ManagedTensor>(x);
}

}  // namespace loup::dlpack
