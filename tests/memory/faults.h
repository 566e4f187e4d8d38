#pragma once

#include <array>
#include <csignal>
#include <functional>
#include <optional>
#include <string>

#include "loup/memory/map_allocator.h"
#include "loup/memory/refcounted_map_allocator.h"
#include "loup/memory/segment_lock.h"
#include "loup/memory/shm.h"
#include "loup/memory/system.h"
#include "tests/support/leaks.h"
#include "tests/support/process.h"

namespace loup::test {

/// The faults of docs/memory.md, by number.
class MapFaults : public LeakTest {
 protected:
  void SetUp() override {
    memory::mappings_keep_locks();  // tried once per process, not in the middle of a fault
    LeakTest::SetUp();
  }
  void TearDown() override {
    memory::system_hook = nullptr;
    LeakTest::TearDown();
  }
  TemporaryFolder folder;
};

/// The error that `body` throws; none when it does not.
template <class Body>
std::optional<MapError> map_error_of(Body&& body) {
  try {
    body();
  } catch (const MapError& error) {
    return error;
  }
  return std::nullopt;
}

template <class Body>
MapError::Kind kind_of(Body&& body) {
  const auto error = map_error_of(body);
  if (!error) throw std::runtime_error("no MapError was thrown");
  return error->kind();
}

/// What the hook does at which system call.
struct Fault {
  int at = -1;       // counted from 0
  int number = 0;    // errno; 0 ends the process
  int count = 0;     // calls so far
  std::string call;  // only these calls, when not empty
  std::string last;  // the call that failed
};
inline Fault fault;

inline int fail_once(const char* call) {
  if (!fault.call.empty() && fault.call != call) return 0;
  if (fault.count++ != fault.at) return 0;
  if (fault.number == 0) raise(SIGKILL);
  fault.last = call;
  return fault.number;
}

/// Counts the system calls of `body`.
template <class Body>
int calls_of(Body&& body) {
  fault = {};
  memory::system_hook = fail_once;
  try {
    body();
  } catch (...) {
    memory::system_hook = nullptr;
    throw;
  }
  memory::system_hook = nullptr;
  return fault.count;
}

}  // namespace loup::test
