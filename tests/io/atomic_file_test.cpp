#include "loup/io/atomic_file.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <set>
#include <string>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "loup/base/error.h"
#include "loup/memory/system.h"
#include "tests/io/file_support.h"
#include "tests/support/errors.h"

namespace loup::io {
namespace {

using Temporary = AtomicFile::Temporary;

const std::string old_text(100'000, 'o');
const std::string new_text(300'000, 'n');

std::span<const std::byte> bytes_in(const std::string& text) {
  return std::as_bytes(std::span(text));
}

void replace(const std::filesystem::path& path, Temporary temporary) {
  AtomicFile file(path, temporary);
  file.write(bytes_in(new_text).first(1000));
  file.write(bytes_in(new_text).subspan(1000));
  file.commit();
}

mode_t mode_of(const std::filesystem::path& path) {
  struct stat info{};
  EXPECT_EQ(stat(path.c_str(), &info), 0);
  return info.st_mode & 07777;
}

class AtomicFileTest : public test::FileTest, public testing::WithParamInterface<Temporary> {
 protected:
  AtomicFileTest() { test::write_text(path_, old_text); }

  void expect_old() {
    EXPECT_TRUE(test::read_text(path_) == old_text);
    EXPECT_EQ(folder_.entries(), 1);
  }
  void expect_new() {
    EXPECT_TRUE(test::read_text(path_) == new_text);
    EXPECT_EQ(folder_.entries(), 1);
  }

  test::Folder folder_;
  std::filesystem::path path_ = folder_ / "file";
};

INSTANTIATE_TEST_SUITE_P(Temporaries, AtomicFileTest,
                         testing::Values(Temporary::nameless_if_possible, Temporary::named),
                         [](const auto& which) {
                           return std::string(which.param == Temporary::named ? "Named"
                                                                              : "Nameless");
                         });

TEST_P(AtomicFileTest, MakesANewFile) {
  std::filesystem::remove(path_);
  replace(path_, GetParam());
  expect_new();
}

TEST_P(AtomicFileTest, ReplacesAFile) {
  replace(path_, GetParam());
  expect_new();
}

TEST_P(AtomicFileTest, LeavesTheOldFileUntilItIsCommitted) {
  {
    AtomicFile file(path_, GetParam());
    file.write(bytes_in(new_text));
    EXPECT_TRUE(test::read_text(path_) == old_text);
  }
  expect_old();
}

TEST_P(AtomicFileTest, OverwritesWhatWasWritten) {
  AtomicFile file(path_, GetParam());
  file.write(bytes_in("abcdef"));
  file.write_at(2, bytes_in("XY"));
  EXPECT_EQ(file.size(), 6U);
  file.commit();
  EXPECT_EQ(test::read_text(path_), "abXYef");
}

TEST_P(AtomicFileTest, KeepsTheModeOfTheOldFile) {
  for (const mode_t mode : {0600U, 0640U, 0444U, 0755U}) {
    chmod(path_.c_str(), mode);
    replace(path_, GetParam());
    EXPECT_EQ(mode_of(path_), mode);
  }
}

TEST_P(AtomicFileTest, GivesANewFileWhatTheUmaskLeaves) {
  std::filesystem::remove(path_);
  const mode_t before = umask(027);
  replace(path_, GetParam());
  umask(before);
  EXPECT_EQ(mode_of(path_), 0640U);
}

TEST_P(AtomicFileTest, WritesThroughSymbolicLinks) {
  const auto link = folder_ / "link";
  std::filesystem::create_symlink("file", link);
  replace(link, GetParam());
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_TRUE(test::read_text(path_) == new_text);
  const auto dangling = folder_ / "dangling";
  std::filesystem::create_symlink("new", dangling);
  replace(dangling, GetParam());
  EXPECT_TRUE(test::read_text(folder_ / "new") == new_text);
}

TEST_P(AtomicFileTest, LeavesAMappedOldFileToItsReaders) {
  const int fd = open(path_.c_str(), O_RDONLY);
  void* const data = mmap(nullptr, old_text.size(), PROT_READ, MAP_SHARED, fd, 0);
  close(fd);
  ASSERT_NE(data, MAP_FAILED);
  replace(path_, GetParam());
  expect_new();
  EXPECT_EQ(std::memcmp(data, old_text.data(), old_text.size()), 0);
  munmap(data, old_text.size());
}

TEST_P(AtomicFileTest, RefusesWhatIsNoRegularFile) {
  const std::string folder = folder_.path().string();
  test::expect_error<IoError>([&] { replace(folder, GetParam()); },
                              "save: expected a regular file or none",
                              "got a directory \"" + folder + "\"");
  test::expect_error<IoError>([&] { replace("/dev/null", GetParam()); },
                              "save: expected a regular file or none",
                              "got something else \"/dev/null\"");
}

TEST_P(AtomicFileTest, SaysWhenThereIsNoFolder) {
  const std::string path = (folder_ / "none/file").string();
  try {
    replace(path, GetParam());
    FAIL();
  } catch (const IoError& error) {
    EXPECT_EQ(error.code(), std::errc::no_such_file_or_directory);
    EXPECT_EQ(error.path(), path);
    EXPECT_EQ(error.what(), "save: expected to write \"" + path +
                                "\", got No such file or directory (errno 2) from open");
  }
}

TEST_P(AtomicFileTest, SaysThatALimitIsReachedInsteadOfDying) {
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small{1000, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  EXPECT_THROW(replace(path_, GetParam()), IoError);
  setrlimit(RLIMIT_FSIZE, &before);
  expect_old();
}

// --- every system call fails once ---

int calls_left = 0;
int failure = 0;
std::set<std::string> failed_calls;

int fail_later(const char* call) {
  if (std::string_view(call) == "close" || calls_left-- != 0) return 0;
  failed_calls.insert(call);
  return failure;
}

/// Whether the call number `which` was reached.
bool replace_with_failure(const std::filesystem::path& path, Temporary temporary, int which,
                          int number, bool& succeeded) {
  calls_left = which;
  failure = number;
  memory::system_hook = fail_later;
  succeeded = true;
  try {
    replace(path, temporary);
  } catch (const IoError& error) {
    succeeded = false;
    EXPECT_EQ(error.code().value(), number);
  }
  memory::system_hook = nullptr;
  return calls_left < 0;
}

TEST_P(AtomicFileTest, LeavesTheOldOrTheNewFileWhateverFails) {
  for (const int number : {EIO, ENOSPC, ENOMEM, EDQUOT}) {
    bool succeeded = false;
    for (int which = 0; replace_with_failure(path_, GetParam(), which, number, succeeded);
         ++which) {
      SCOPED_TRACE(which);
      const std::string text = test::read_text(path_);
      EXPECT_TRUE(text == old_text || text == new_text);
      EXPECT_TRUE(!succeeded || text == new_text);
      EXPECT_EQ(folder_.entries(), 1);
      test::write_text(path_, old_text);
    }
  }
  for (const char* const call : {"stat", "open", "pwrite", "fchmod", "fsync", "rename"}) {
    EXPECT_TRUE(failed_calls.contains(call)) << call;
  }
}

TEST_P(AtomicFileTest, RepeatsInterruptedCalls) {
  bool succeeded = false;
  for (int which = 0; replace_with_failure(path_, GetParam(), which, EINTR, succeeded); ++which) {
    EXPECT_TRUE(succeeded) << which;
    expect_new();
    test::write_text(path_, old_text);
  }
}

// --- killed at every system call ---

/// Stops the child at its next `steps` entries to or exits from system calls, then kills it. False
/// when it ended before.
bool kill_after(pid_t child, int steps) {
  int status = 0;
  waitpid(child, &status, 0);
  for (int i = 0; i < steps; ++i) {
    ptrace(PTRACE_SYSCALL, child, nullptr, nullptr);
    waitpid(child, &status, 0);
    if (WIFEXITED(status) || WIFSIGNALED(status)) return false;
  }
  kill(child, SIGKILL);
  waitpid(child, &status, 0);
  return true;
}

bool can_trace() {
  const pid_t child = fork();
  if (child == 0) _exit(ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) == 0 ? 0 : 1);
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST_P(AtomicFileTest, LeavesTheOldOrTheNewFileWhereverTheProcessIsKilled) {
  if (!can_trace()) GTEST_SKIP() << "the system does not allow ptrace";
  int old_files = 0;
  int new_files = 0;
  bool was_killed = true;
  for (int steps = 0; was_killed; ++steps) {
    SCOPED_TRACE(steps);
    ASSERT_LT(steps, 1000);
    test::write_text(path_, old_text);
    const pid_t child = fork();
    if (child == 0) {
      ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
      raise(SIGSTOP);
      try {
        replace(path_, GetParam());
      } catch (...) {
        _exit(1);
      }
      _exit(0);
    }
    was_killed = kill_after(child, steps);
    const std::string text = test::read_text(path_);
    old_files += static_cast<int>(text == old_text);
    new_files += static_cast<int>(text == new_text);
    ASSERT_EQ(old_files + new_files, steps + 1) << text.size();
    // What a killed process could not take with it: at most one hidden file.
    EXPECT_LE(folder_.entries(), 2);
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
      if (entry.path() == path_) continue;
      EXPECT_TRUE(entry.path().filename().string().starts_with(".file."));
      std::filesystem::remove(entry.path());
    }
  }
  EXPECT_GT(old_files, 10);
  EXPECT_GT(new_files, 1);
  RecordProperty("killed_before_the_change", old_files);
  RecordProperty("killed_after_the_change", new_files);
}

}  // namespace
}  // namespace loup::io
