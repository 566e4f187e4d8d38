#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <unistd.h>

#include <gtest/gtest.h>

#include "loup/memory/shm_name.h"

namespace loup::test {

/// Open descriptors, mappings of files and names of shared memory that this process can see.
struct Held {
  std::multiset<std::string> descriptors;
  std::multiset<std::string> mappings;
  std::set<std::string> names;

  static Held now() {
    namespace fs = std::filesystem;
    Held held;
    for (const auto& entry : fs::directory_iterator("/proc/self/fd")) {
      std::error_code error;
      const fs::path target = fs::read_symlink(entry.path(), error);
      // The directory that is being read is open, too.
      if (!error && target.string().find("/proc/") != 0) held.descriptors.insert(target);
    }
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
      const std::size_t path = line.find('/');
      if (path == std::string::npos) continue;
      const std::string name = line.substr(path);
      const bool is_code = name.find(".so") != std::string::npos || name.find("/usr/") == 0 ||
                           name.find("_tests") != std::string::npos;
      if (!is_code) held.mappings.insert(name);
    }
    std::error_code error;
    const std::string ours = "lp." + memory::shm_namespace() + ".";
    for (const auto& entry : fs::directory_iterator(memory::shm_directory(), error)) {
      const std::string name = entry.path().filename();
      if (name.starts_with(ours)) held.names.insert(name);
    }
    return held;
  }

  friend bool operator==(const Held&, const Held&) = default;
};

/// Its tests leave no descriptor, mapping or name behind. Names are made in a namespace of this
/// process: others may be at work in the same directory.
class LeakTest : public testing::Test {
 protected:
  void SetUp() override {
    setenv("LOUP_NS", ("t" + std::to_string(getpid() % 10'000'000)).c_str(), 1);
    before_ = Held::now();
  }
  void TearDown() override {
    const Held after = Held::now();
    EXPECT_EQ(after.descriptors, before_.descriptors) << "descriptors";
    EXPECT_EQ(after.mappings, before_.mappings) << "mappings";
    EXPECT_EQ(after.names, before_.names) << "names in " << memory::shm_directory();
  }

 private:
  Held before_;
};

/// A folder that is removed with everything inside.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "loup-test-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
    path_ = name;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  std::string string() const { return path_.string(); }

  /// A file with this content.
  std::string file(const std::string& name, const std::string& content) const {
    const std::string path = *this / name;
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }

 private:
  std::filesystem::path path_;
};

inline std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace loup::test
