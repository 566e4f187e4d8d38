#include "loup/memory/process_identity.h"

#include <chrono>
#include <fstream>
#include <sstream>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

namespace loup::memory {

namespace {

std::uint64_t read_start_time() {
  std::ifstream file("/proc/self/stat");
  std::string text;
  std::getline(file, text);
  // The second field is a name that may hold spaces and parentheses; the start time is the 22nd.
  const std::size_t end_of_name = text.rfind(')');
  if (end_of_name == std::string::npos) return 0;
  std::istringstream fields(text.substr(end_of_name + 1));
  std::string skipped;
  for (int field = 3; field < 22; ++field) fields >> skipped;
  std::uint64_t ticks = 0;
  fields >> ticks;
  return ticks;
}

ProcessIdentity find_out(std::uint32_t pid) {
  struct stat info{};
  const bool has_namespace = stat("/proc/self/ns/pid", &info) == 0;
  return {pid, read_start_time(), has_namespace ? std::uint64_t{info.st_ino} : 0};
}

}  // namespace

ProcessIdentity process_identity() {
  // One per thread: no lock that a fork could leave taken.
  thread_local ProcessIdentity self;
  const auto pid = static_cast<std::uint32_t>(getpid());
  if (self.pid != pid) self = find_out(pid);
  return self;
}

std::array<std::uint8_t, 16> boot_id() {
  std::array<std::uint8_t, 16> id{};
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::size_t digits = 0;
  for (char c = 0; file.get(c) && digits < 2 * id.size();) {
    if (c == '-') continue;
    const int value = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
    if (value < 0) break;
    id[digits / 2] =
        static_cast<std::uint8_t>(unsigned{id[digits / 2]} << 4U | static_cast<unsigned>(value));
    ++digits;
  }
  return id;
}

std::uint64_t nanoseconds_now() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

}  // namespace loup::memory
