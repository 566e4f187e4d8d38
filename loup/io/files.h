#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <variant>

#include "loup/io/safetensors.h"
#include "loup/masked/masked_tensor.h"
#include "loup/tensor/tensor.h"

// Tensors in files: .npy, .npz and .safetensors. docs/files.md tells what each of them can hold and
// how masks are stored.

namespace loup::io {

enum class FileFormat : std::uint8_t { npy, npz, safetensors };
/// "npy", "npz" or "safetensors".
LOUP_EXPORT std::string_view name(FileFormat format);

using Item = std::variant<Tensor, MaskedTensor>;
using Items = std::map<std::string, Item, std::less<>>;
using Content = std::variant<Tensor, MaskedTensor, Items>;

struct SaveOptions {
  Metadata metadata = {};   ///< .safetensors only; keys that begin with "loup." are ours
  bool compressed = false;  ///< .npz only
};

/// Writes a file in the format of its extension, as a whole or not at all: AtomicFile. .npy holds a
/// Tensor, .npz named ones, .safetensors anything. ValueError or DTypeError when the format cannot
/// hold the content, IoError when writing fails.
LOUP_EXPORT void save(const std::filesystem::path& path, const Tensor& x,
                      const SaveOptions& options = {});
LOUP_EXPORT void save(const std::filesystem::path& path, const MaskedTensor& x,
                      const SaveOptions& options = {});
LOUP_EXPORT void save(const std::filesystem::path& path, const Items& items,
                      const SaveOptions& options = {});

struct LoadOptions {
  bool mapped = true;  ///< share the file's pages, copy-on-write; otherwise it is read
  bool masked = true;  ///< join `name` and `name.mask`; otherwise both are plain tensors
  bool verify = true;  ///< check the checksums of .npz members that are mapped, which reads them
};

/// What was in a file.
struct LOUP_EXPORT File {
  FileFormat format = FileFormat::npy;
  Content content;
  Metadata metadata;

  /// The only tensor, the only masked tensor, the named ones; ValueError when it is something else.
  const Tensor& tensor() const;
  const MaskedTensor& masked_tensor() const;
  const Items& items() const;
};

/// Reads a file; its format is seen from its bytes. Nothing that is written to the tensors reaches
/// the file. FormatError, with the path, for bad content; IoError when the file cannot be read.
LOUP_EXPORT File load(const std::filesystem::path& path, const LoadOptions& options = {});

}  // namespace loup::io

namespace loup {
using io::load;
using io::save;
}  // namespace loup
