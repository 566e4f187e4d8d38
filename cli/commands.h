#pragma once

#include <string>

// What the subcommands print. No options here, and no streams.

namespace loup::cli {

enum class Format : unsigned char { text, json, markdown };

/// Version, instruction sets, threads, and what the library was built with.
std::string info(Format format);

/// The masked operators.
std::string ops(Format format);

}  // namespace loup::cli
