#pragma once

#include <cstddef>
#include <cstdint>

// Numbers of the ZIP format that reader and writer share. Fields are little-endian; offsets count
// from the signature of a record.

namespace loup::io::zip {

inline constexpr std::uint32_t local_signature = 0x04034b50;
inline constexpr std::uint32_t central_signature = 0x02014b50;
inline constexpr std::uint32_t end_signature = 0x06054b50;
inline constexpr std::uint32_t end64_signature = 0x06064b50;
inline constexpr std::uint32_t locator_signature = 0x07064b50;

inline constexpr std::size_t local_bytes = 30;
inline constexpr std::size_t central_bytes = 46;
inline constexpr std::size_t end_bytes = 22;
inline constexpr std::size_t end64_bytes = 56;
inline constexpr std::size_t locator_bytes = 20;

inline constexpr std::uint16_t stored = 0;
inline constexpr std::uint16_t deflated = 8;
inline constexpr std::uint16_t flag_descriptor = 0x0008;  // sizes follow the data
inline constexpr std::uint16_t flag_utf8 = 0x0800;
inline constexpr std::uint16_t zip64_extra = 0x0001;

/// What a field of 16 or 32 bits holds when the value stands in a zip64 record.
inline constexpr std::uint16_t elsewhere16 = 0xFFFF;
inline constexpr std::uint32_t elsewhere32 = 0xFFFFFFFF;

}  // namespace loup::io::zip
