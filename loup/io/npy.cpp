#include "loup/io/npy.h"

#include <algorithm>
#include <cstdint>

#include "loup/base/error.h"
#include "loup/io/npy_header.h"
#include "loup/ops/copy.h"

namespace loup::io {

namespace {

/// Enough for eight dims and any padding.
constexpr std::size_t longest_header = 1U << 20U;

/// The same elements with the dims in reverse order.
Layout reversed(Layout layout) {
  std::reverse(layout.shape.begin(), layout.shape.end());
  std::reverse(layout.strides.begin(), layout.strides.end());
  return layout;
}

}  // namespace

FileTensor parse_npy(std::span<const std::byte> file) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  if (!text.starts_with(npy_magic)) {
    throw FormatError("load: expected an .npy file that begins with \\x93NUMPY, got {}",
                      text.empty() ? "an empty one" : "another beginning");
  }
  constexpr std::size_t version_end = npy_magic.size() + 2;
  const auto byte = [&](std::size_t i) { return std::to_integer<std::size_t>(file[i]); };
  const std::size_t major = file.size() < version_end ? 0 : byte(version_end - 2);
  const std::size_t minor = file.size() < version_end ? 0 : byte(version_end - 1);
  if (major < 1 || major > 3 || minor != 0) {
    throw FormatError("load: expected .npy version 1.0, 2.0 or 3.0, got {}.{}", major, minor);
  }
  const std::size_t length_bytes = major == 1 ? 2 : 4;
  if (file.size() < version_end + length_bytes) {
    throw FormatError("load: expected the length of the .npy header, got a file of {} bytes",
                      file.size());
  }
  std::size_t length = 0;
  for (std::size_t i = length_bytes; i-- > 0;) length = length * 256 + byte(version_end + i);
  const std::size_t begin = version_end + length_bytes;
  if (length > std::min(longest_header, file.size() - begin)) {
    throw FormatError("load: expected an .npy header of at most {} bytes, got one of {}",
                      std::min(longest_header, file.size() - begin), length);
  }
  const NpyDescription header = parse_npy_description(text.substr(begin, length));
  const std::size_t bytes = file_bytes(header.shape, header.dtype);
  const std::size_t offset = begin + length;
  if (file.size() - offset != bytes) {
    throw FormatError("load: expected {} bytes for shape {} of {}, got {}", bytes, header.shape,
                      header.dtype, file.size() - offset);
  }
  return {header.dtype, header.shape, offset, header.is_fortran, header.is_swapped};
}

Tensor read_npy(const DataPtr& file) { return tensor_in(file, parse_npy(bytes_of(file))); }

NpyImage npy_image(const Tensor& x) {
  Tensor elements = x.detach();
  const Layout turned = reversed(x.layout());
  const bool is_fortran = !x.is_contiguous() && turned.is_contiguous();
  if (is_fortran) elements = elements.with_layout(turned);
  std::string text = npy_description(x.shape(), x.dtype(), is_fortran);
  std::string header(npy_magic);
  // Version 1.0, which has two bytes for the length: eight dims are far from 65535 bytes.
  header.append({1, 0, 0, 0});
  const std::size_t used = header.size() + text.size() + 1;
  text.append(file_alignment - used % file_alignment, ' ');
  text += '\n';
  header[header.size() - 2] = static_cast<char>(text.size() & 0xFFU);
  header[header.size() - 1] = static_cast<char>(text.size() >> 8U);
  return {header + text, ops::contiguous(elements)};
}

}  // namespace loup::io
