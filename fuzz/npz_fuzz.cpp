#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "loup/base/error.h"
#include "loup/io/npz.h"

// Any bytes are an archive or refused; what is unpacked stays within what deflate can reach.

// libFuzzer finds it by its name. NOLINTNEXTLINE(readability-identifier-naming)
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace loup;
  // A fuzzer does not guess checksums, so most runs do not look at those of stored members.
  const bool verify = size % 8 == 0;
  try {
    std::size_t bytes = 0;
    for (const auto& [name, x] :
         io::read_npz({const_cast<std::uint8_t*>(data), size, nullptr, false}, verify)) {
      bytes += static_cast<std::size_t>(x.bytes());
    }
    if (bytes > 1033 * size) std::abort();
  } catch (const FormatError&) {
    return 0;
  }
  return 0;
}
