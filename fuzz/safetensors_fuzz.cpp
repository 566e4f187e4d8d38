#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>

#include "loup/base/error.h"
#include "loup/io/safetensors.h"

// Any bytes are a file or refused. The tensors of a file are no larger than it, and what is written
// of them reads the same.

namespace {

using namespace loup;
using Tensors = std::map<std::string, Tensor, std::less<>>;

struct Content {
  Tensors tensors;
  io::Metadata metadata;
};

Content content(const DataPtr& file) {
  io::SafetensorsHeader header = io::parse_safetensors(io::bytes_of(file));
  Content result{{}, std::move(header.metadata)};
  std::size_t bytes = 0;
  for (const auto& [name, place] : header.tensors) {
    const Tensor x = io::tensor_in(file, place);
    bytes += static_cast<std::size_t>(x.bytes());
    result.tensors.emplace(name, x);
  }
  if (bytes > file.bytes) std::abort();
  return result;
}

std::string written(const Content& from) {
  const io::SafetensorsImage image = io::safetensors_image(from.tensors, from.metadata);
  std::string result = image.header;
  for (const Tensor& x : image.elements) {
    result.append(reinterpret_cast<const char*>(x.raw_data()), static_cast<std::size_t>(x.bytes()));
  }
  return result;
}

}  // namespace

// libFuzzer finds it by its name. NOLINTNEXTLINE(readability-identifier-naming)
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Content first;
  try {
    first = content({const_cast<std::uint8_t*>(data), size, nullptr, false});
  } catch (const FormatError&) {
    return 0;
  }
  std::string once = written(first);
  const Content second = content({once.data(), once.size(), nullptr, false});
  if (written(second) != once || second.metadata != first.metadata) std::abort();
  return 0;
}
