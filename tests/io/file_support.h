#pragma once

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <unistd.h>

#include <gtest/gtest.h>

#include "loup/io/elements.h"
#include "tests/support/leaks.h"

namespace loup::test {

/// A folder that is gone after the test.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "loup-XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }
  std::ptrdiff_t entries() const {
    return std::distance(std::filesystem::directory_iterator(path_), {});
  }

 private:
  std::filesystem::path path_;
};

/// Tests that leave no descriptor and no mapping behind.
class FileTest : public testing::Test {
 protected:
  void SetUp() override { before_ = Held::now(); }
  void TearDown() override {
    const Held after = Held::now();
    EXPECT_EQ(after.descriptors, before_.descriptors) << "descriptors";
    EXPECT_EQ(after.mappings, before_.mappings) << "mappings";
  }

 private:
  Held before_;
};

inline std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void write_text(const std::filesystem::path& path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
}

/// Bytes that begin at a multiple of 64, as those of a mapped file do, with nothing behind them.
inline DataPtr file_of(std::string_view text) {
  const DataPtr bytes = io::new_bytes(text.size());
  if (!text.empty()) std::memcpy(bytes.data, text.data(), text.size());
  return bytes;
}

inline std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace loup::test
