#pragma once

#include <string>

// What the subcommands print. No options here, and no streams.

namespace loup::cli {

enum class Format : unsigned char { text, json, markdown };

/// Version, instruction sets, threads, and what the library was built with.
std::string info(Format format);

/// The tensors in a file, and its metadata. Errors as for io::load().
std::string file_info(const std::string& path, Format format);

/// The masked operators.
std::string ops(Format format);

}  // namespace loup::cli
