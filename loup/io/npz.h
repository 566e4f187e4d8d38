#pragma once

#include <map>
#include <string>

#include "loup/memory/data_ptr.h"
#include "loup/tensor/tensor.h"

// NumPy's .npz: a ZIP archive of .npy files.

namespace loup::io {

class AtomicFile;

/// The arrays of a whole .npz file by their names, without ".npy". Those that are stored and
/// aligned share the file's bytes; their checksums are looked at when `verify` says so, those of
/// the others always. FormatError when something is wrong with it, or when there are other files
/// inside.
LOUP_EXPORT std::map<std::string, Tensor, std::less<>> read_npz(const DataPtr& file,
                                                                bool verify = true);

/// Writes an archive. Arrays that are not `compressed` begin at multiples of 64, so that readers
/// can map them.
LOUP_EXPORT void write_npz(AtomicFile& file,
                           const std::map<std::string, Tensor, std::less<>>& tensors,
                           bool compressed);

}  // namespace loup::io
