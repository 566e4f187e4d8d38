#pragma once

#include <csignal>
#include <cstdio>
#include <exception>
#include <sched.h>
#include <string>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

#include <gtest/gtest.h>

namespace loup::test {

/// How a child ended.
struct Outcome {
  int status = 0;
  std::string text;  // what it said

  bool is_fine() const { return WIFEXITED(status) && WEXITSTATUS(status) == 0 && text.empty(); }
  bool was_killed() const { return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL; }
  bool is_skipped() const { return text.starts_with("skipped: "); }
  friend std::ostream& operator<<(std::ostream& stream, const Outcome& outcome) {
    return stream << "status " << outcome.status << ": " << outcome.text;
  }
};

/// A child that runs beside the test.
class Child {
 public:
  /// `body` returns what went wrong, or nothing. The child ends without destructors of ours.
  template <class Body>
  explicit Child(Body&& body) {
    int ends[2];
    if (pipe(ends) != 0) throw std::runtime_error("pipe failed");
    pid_ = fork();
    if (pid_ == 0) {
      ::close(ends[0]);
      std::string text;
      try {
        text = body();
      } catch (const std::exception& error) {
        text = std::string("threw: ") + error.what();
      }
      [[maybe_unused]] const ssize_t written = write(ends[1], text.data(), text.size());
      _exit(text.empty() ? 0 : 1);
    }
    ::close(ends[1]);
    said_ = ends[0];
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      wait();
    }
  }
  pid_t pid() const { return pid_; }
  void kill() const { ::kill(pid_, SIGKILL); }
  Outcome wait() {
    Outcome outcome;
    char buffer[512];
    for (ssize_t got = 0; (got = read(said_, buffer, sizeof buffer)) > 0;) {
      outcome.text.append(buffer, static_cast<std::size_t>(got));
    }
    ::close(said_);
    waitpid(std::exchange(pid_, -1), &outcome.status, 0);
    return outcome;
  }

 private:
  pid_t pid_ = -1;
  int said_ = -1;
};

template <class Body>
Outcome run_in_child(Body&& body) {
  return Child(std::forward<Body>(body)).wait();
}

/// One byte at a time between processes.
class Signal {
 public:
  Signal() {
    if (pipe(ends_) != 0) throw std::runtime_error("pipe failed");
  }
  Signal(const Signal&) = delete;
  Signal& operator=(const Signal&) = delete;
  ~Signal() {
    ::close(ends_[0]);
    ::close(ends_[1]);
  }
  void give() const { [[maybe_unused]] const ssize_t done = write(ends_[1], "x", 1); }
  void await() const {
    char c = 0;
    [[maybe_unused]] const ssize_t done = read(ends_[0], &c, 1);
  }

 private:
  int ends_[2]{};
};

/// In a child: a tmpfs of its own at `folder`, and shared memory there. What keeps it from it.
inline std::string enter_small_tmpfs(const std::string& folder, const char* options) {
  if (unshare(CLONE_NEWNS) != 0) return "skipped: no right to make a mount namespace";
  if (mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      mount("tmpfs", folder.c_str(), "tmpfs", 0, options) != 0) {
    return "skipped: no right to mount a tmpfs";
  }
  setenv("LOUP_SHM_DIR", folder.c_str(), 1);
  return {};
}

// NOLINTBEGIN(cppcoreguidelines-macro-usage): the text of the condition is wanted
#define LOUP_STRING_OF(x) #x
#define LOUP_LINE(x) LOUP_STRING_OF(x)
/// In a child: reports a condition that does not hold.
#define CHILD_CHECK(condition)                \
  if (const bool holds = (condition); !holds) \
  return std::string("line " LOUP_LINE(__LINE__) ": " #condition)
#define EXPECT_FINE(outcome)                                                             \
  if (const ::loup::test::Outcome end_of_child = (outcome); end_of_child.is_skipped()) { \
    GTEST_SKIP() << end_of_child.text;                                                   \
  } else                                                                                 \
    EXPECT_TRUE(end_of_child.is_fine()) << end_of_child
// NOLINTEND(cppcoreguidelines-macro-usage)

}  // namespace loup::test
