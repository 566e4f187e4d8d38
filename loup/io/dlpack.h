#pragma once

#include <cstddef>
#include <cstdint>

#include "loup/tensor/tensor.h"

// DLPack, the exchange of tensors in memory between array libraries. The structs are its documented
// ABI, declared here because distributions still ship headers that predate booleans and versions.

namespace loup::dlpack {

inline constexpr std::int32_t device_cpu = 1;
enum TypeCode : std::uint8_t {
  type_int = 0,
  type_uint = 1,
  type_float = 2,
  type_bfloat = 4,
  type_bool = 6
};
enum Flags : std::uint64_t { read_only = 1, is_copied = 2 };

struct Device {
  std::int32_t device_type;
  std::int32_t device_id;
};
struct DataType {
  std::uint8_t code;
  std::uint8_t bits;
  std::uint16_t lanes;
};
struct DLTensor {
  void* data;
  Device device;
  std::int32_t ndim;
  DataType dtype;
  std::int64_t* shape;
  std::int64_t* strides;  // in elements; null: row-major
  std::uint64_t byte_offset;
};
/// The form before version 1.
struct ManagedTensor {
  DLTensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(ManagedTensor* self);
};
struct Version {
  std::uint32_t major;
  std::uint32_t minor;
};
struct ManagedTensorVersioned {
  Version version;
  void* manager_ctx;
  void (*deleter)(ManagedTensorVersioned* self);
  std::uint64_t flags;
  DLTensor dl_tensor;
};

static_assert(sizeof(DLTensor) == 48 && offsetof(DLTensor, ndim) == 16 &&
              offsetof(DLTensor, dtype) == 20 && offsetof(DLTensor, byte_offset) == 40);
static_assert(sizeof(ManagedTensor) == 64 && offsetof(ManagedTensor, deleter) == 56);
static_assert(sizeof(ManagedTensorVersioned) == 80 &&
              offsetof(ManagedTensorVersioned, flags) == 24 &&
              offsetof(ManagedTensorVersioned, dl_tensor) == 32);

/// The version we write.
inline constexpr Version version{1, 3};

/// Shares the elements of a tensor that another library exported, and takes it over: its deleter is
/// called when the last of our handles is gone. When this throws (DTypeError, ShapeError,
/// ValueError) nothing was taken over.
LOUP_EXPORT Tensor from_dlpack(ManagedTensorVersioned* managed);
LOUP_EXPORT Tensor from_dlpack(ManagedTensor* managed);

/// Lends the elements of `x` to another library, which ends the loan by calling the deleter.
/// StateError when x requires grad. `flags` are added to read_only, which follows from x.
LOUP_EXPORT ManagedTensorVersioned* to_dlpack(const Tensor& x, std::uint64_t flags = 0);
/// The old form has no read-only flag: ValueError when x is read-only.
LOUP_EXPORT ManagedTensor* to_dlpack_unversioned(const Tensor& x);

}  // namespace loup::dlpack
