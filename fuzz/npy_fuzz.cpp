#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "loup/base/error.h"
#include "loup/io/npy.h"

// Any bytes are an array or refused. The elements of an array lie inside of the bytes, and what is
// written of it reads the same.

// libFuzzer finds it by its name. NOLINTNEXTLINE(readability-identifier-naming)
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace loup;
  // A tensor may be written to, but this one is not.
  const DataPtr file{const_cast<std::uint8_t*>(data), size, nullptr, false};
  Tensor x;
  try {
    x = io::read_npy(file);
  } catch (const FormatError&) {
    return 0;
  }
  if (static_cast<std::size_t>(x.bytes()) > size) std::abort();
  const io::NpyImage image = io::npy_image(x);
  std::string again = image.header;
  again.append(reinterpret_cast<const char*>(image.elements.raw_data()),
               static_cast<std::size_t>(image.elements.bytes()));
  const Tensor y = io::read_npy({again.data(), again.size(), nullptr, false});
  if (y.shape() != x.shape() || y.dtype() != x.dtype()) std::abort();
  const io::NpyImage twice = io::npy_image(y);
  if (twice.header != image.header) std::abort();
  if (x.bytes() > 0 && std::memcmp(twice.elements.raw_data(), image.elements.raw_data(),
                                   static_cast<std::size_t>(x.bytes())) != 0) {
    std::abort();
  }
  return 0;
}
