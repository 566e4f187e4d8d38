// The limit of the machine: readers, copiers and writers that do nothing else with the bytes of
// a benchmark task. The harness loads this library with ctypes and measures it beside loup, on
// the same buffers and with the same threads.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <emmintrin.h>
#include <vector>

#include "loup/base/parallel.h"

#define LOUP_BENCH_EXPORT extern "C" __attribute__((visibility("default")))
#define LOUP_BENCH_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))

namespace {

constexpr std::size_t chunk_bytes = std::size_t{128} * 1024;

// One cache line; every target splits it into registers of its own width.
using Line = std::uint64_t __attribute__((vector_size(64), aligned(1), may_alias));
constexpr std::size_t line_bytes = sizeof(Line);

struct Piece {
  std::byte* to;
  const std::byte* from;
  std::size_t bytes;
};

void add_pieces(std::vector<Piece>& pieces, std::byte* to, const std::byte* from,
                std::size_t bytes) {
  for (std::size_t start = 0; start < bytes; start += chunk_bytes) {
    pieces.push_back({to == nullptr ? nullptr : to + start,
                      from == nullptr ? nullptr : from + start,
                      std::min(chunk_bytes, bytes - start)});
  }
}

std::uint64_t read_bytes(const std::byte* from, std::size_t bytes) {
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < bytes; ++i) total += static_cast<std::uint64_t>(from[i]);
  return total;
}

// Eight accumulators, so that the loads and not the chain of additions set the pace.
LOUP_BENCH_CLONES std::uint64_t read_piece(const std::byte* from, std::size_t bytes) {
  Line a{}, b{}, c{}, d{}, e{}, f{}, g{}, h{};
  const std::size_t lines = bytes / line_bytes;
  const auto* line = reinterpret_cast<const Line*>(from);
  std::size_t i = 0;
  for (; i + 8 <= lines; i += 8) {
    a += line[i];
    b += line[i + 1];
    c += line[i + 2];
    d += line[i + 3];
    e += line[i + 4];
    f += line[i + 5];
    g += line[i + 6];
    h += line[i + 7];
  }
  for (; i < lines; ++i) a += line[i];
  const Line sum = ((a + b) + (c + d)) + ((e + f) + (g + h));
  std::uint64_t total = 0;
  for (std::size_t lane = 0; lane < line_bytes / sizeof(std::uint64_t); ++lane) total += sum[lane];
  return total + read_bytes(from + lines * line_bytes, bytes % line_bytes);
}

// Streaming stores need aligned targets; what lies before and after is copied plainly.
std::size_t bytes_to_alignment(const std::byte* to) {
  const auto address = reinterpret_cast<std::uintptr_t>(to);
  return (line_bytes - address % line_bytes) % line_bytes;
}

void stream_copy(const Piece& piece) {
  const std::size_t head = std::min(bytes_to_alignment(piece.to), piece.bytes);
  std::memcpy(piece.to, piece.from, head);
  std::size_t i = head;
  for (; i + line_bytes <= piece.bytes; i += line_bytes) {
    const auto* from = reinterpret_cast<const __m128i*>(piece.from + i);
    auto* to = reinterpret_cast<__m128i*>(piece.to + i);
    const __m128i a = _mm_loadu_si128(from);
    const __m128i b = _mm_loadu_si128(from + 1);
    const __m128i c = _mm_loadu_si128(from + 2);
    const __m128i d = _mm_loadu_si128(from + 3);
    _mm_stream_si128(to, a);
    _mm_stream_si128(to + 1, b);
    _mm_stream_si128(to + 2, c);
    _mm_stream_si128(to + 3, d);
  }
  std::memcpy(piece.to + i, piece.from + i, piece.bytes - i);
  _mm_sfence();
}

void stream_write(const Piece& piece) {
  const std::size_t head = std::min(bytes_to_alignment(piece.to), piece.bytes);
  std::memset(piece.to, 1, head);
  const __m128i value = _mm_set1_epi8(1);
  std::size_t i = head;
  for (; i + line_bytes <= piece.bytes; i += line_bytes) {
    auto* to = reinterpret_cast<__m128i*>(piece.to + i);
    _mm_stream_si128(to, value);
    _mm_stream_si128(to + 1, value);
    _mm_stream_si128(to + 2, value);
    _mm_stream_si128(to + 3, value);
  }
  std::memset(piece.to + i, 1, piece.bytes - i);
  _mm_sfence();
}

template <typename Body>
void run(const std::vector<Piece>& pieces, int threads, Body&& body) {
  const auto count = static_cast<std::int64_t>(pieces.size());
  if (threads > 1) {
    loup::parallel_for(count, [&](std::int64_t i) { body(pieces[static_cast<std::size_t>(i)]); });
    return;
  }
  for (const Piece& piece : pieces) body(piece);
}

volatile std::uint64_t sink;

}  // namespace

/// Reads `count` buffers once. `threads` is 1 (the calling thread) or loup's number of threads.
LOUP_BENCH_EXPORT void loup_bench_read(const void* const* buffers, const std::size_t* bytes,
                                       std::size_t count, int threads) {
  std::vector<Piece> pieces;
  for (std::size_t i = 0; i < count; ++i) {
    add_pieces(pieces, nullptr, static_cast<const std::byte*>(buffers[i]), bytes[i]);
  }
  run(pieces, threads, [](const Piece& piece) { sink = read_piece(piece.from, piece.bytes); });
}

/// Copies a buffer, with streaming stores when `streaming` is not 0.
LOUP_BENCH_EXPORT void loup_bench_copy(void* to, const void* from, std::size_t bytes, int streaming,
                                       int threads) {
  std::vector<Piece> pieces;
  add_pieces(pieces, static_cast<std::byte*>(to), static_cast<const std::byte*>(from), bytes);
  if (streaming != 0) {
    run(pieces, threads, stream_copy);
    return;
  }
  run(pieces, threads, [](const Piece& piece) { std::memcpy(piece.to, piece.from, piece.bytes); });
}

/// Fills a buffer, with streaming stores when `streaming` is not 0.
LOUP_BENCH_EXPORT void loup_bench_write(void* to, std::size_t bytes, int streaming, int threads) {
  std::vector<Piece> pieces;
  add_pieces(pieces, static_cast<std::byte*>(to), nullptr, bytes);
  if (streaming != 0) {
    run(pieces, threads, stream_write);
    return;
  }
  run(pieces, threads, [](const Piece& piece) { std::memset(piece.to, 1, piece.bytes); });
}

/// Sets the number of threads of the loup library that this one is linked with.
LOUP_BENCH_EXPORT void loup_bench_set_threads(int threads) { loup::set_num_threads(threads); }
