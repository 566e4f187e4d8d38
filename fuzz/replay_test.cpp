#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>

// libFuzzer finds it by its name. NOLINTNEXTLINE(readability-identifier-naming)
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

/// A copy without spare room, so that the address sanitizer sees every step beyond its end.
std::vector<std::uint8_t> bytes_of_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  return {text.begin(), text.end()};
}

TEST(Corpus, IsReadOrRefusedWithoutACrash) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(LOUP_CORPUS)) {
    SCOPED_TRACE(entry.path().filename().string());
    const std::vector<std::uint8_t> bytes = bytes_of_file(entry.path());
    EXPECT_EQ(LLVMFuzzerTestOneInput(bytes.data(), bytes.size()), 0);
    ++count;
  }
  EXPECT_GT(count, 0);
}

TEST(Corpus, IsReadOrRefusedWithAnyBitFlippedOrAnyByteCutOff) {
  for (const auto& entry : std::filesystem::directory_iterator(LOUP_CORPUS)) {
    SCOPED_TRACE(entry.path().filename().string());
    const std::vector<std::uint8_t> bytes = bytes_of_file(entry.path());
    if (bytes.size() > 1024) continue;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      std::vector<std::uint8_t> changed = bytes;
      changed[i] = static_cast<std::uint8_t>(changed[i] ^ (1U << (i % 8)));
      EXPECT_EQ(LLVMFuzzerTestOneInput(changed.data(), changed.size()), 0);
      const std::vector<std::uint8_t> cut(bytes.begin(), bytes.begin() + std::ptrdiff_t(i));
      EXPECT_EQ(LLVMFuzzerTestOneInput(cut.data(), cut.size()), 0);
    }
  }
}

}  // namespace
