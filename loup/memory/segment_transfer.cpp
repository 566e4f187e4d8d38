#include <array>
#include <cerrno>
#include <cstring>
#include <sys/socket.h>
#include <sys/uio.h>

#include "loup/memory/refcounted_map_allocator.h"

// A segment on its way through a UNIX socket: its name, and a descriptor that is the reference.

namespace loup {

namespace {

struct Message {
  std::array<char, 8> magic;
  std::uint32_t is_read_only;
  std::uint32_t name_bytes;
  std::array<char, 256> name;
};
constexpr std::array<char, 8> magic{'L', 'O', 'U', 'P', 'S', 'N', 'D', '1'};

struct alignas(cmsghdr) Control {
  std::array<char, CMSG_SPACE(sizeof(int))> bytes{};
};

/// The descriptor that came with a message; none when there was none.
memory::Fd descriptor_in(msghdr& message) {
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr;
       part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    int fd = -1;
    std::memcpy(&fd, CMSG_DATA(part), sizeof fd);
    return memory::Fd(fd);
  }
  return {};
}

}  // namespace

void RefcountedMapAllocator::send(int socket) const {
  const memory::Fd fd(descriptor());
  Message content{
      magic, mapping_.is_read_only ? 1U : 0U, static_cast<std::uint32_t>(filename_.size()), {}};
  filename_.copy(content.name.data(), content.name.size());
  iovec data{&content, sizeof content};
  Control control;
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes.data();
  message.msg_controllen = control.bytes.size();
  cmsghdr* const part = CMSG_FIRSTHDR(&message);
  part->cmsg_level = SOL_SOCKET;
  part->cmsg_type = SCM_RIGHTS;
  part->cmsg_len = CMSG_LEN(sizeof(int));
  const int number = fd.get();
  std::memcpy(CMSG_DATA(part), &number, sizeof number);
  if (memory::sys::send(socket, message) < 0) {
    memory::throw_map_error({"send", mapping_.path}, "sendmsg", errno);
  }
}

RefcountedMapAllocator RefcountedMapAllocator::recv(int socket) {
  Message content{};
  memory::Fd fd;
  for (std::size_t filled = 0; filled < sizeof content;) {
    iovec data{reinterpret_cast<char*>(&content) + filled, sizeof content - filled};
    Control control;
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = control.bytes.data();
    message.msg_controllen = control.bytes.size();
    const ssize_t got = memory::sys::receive(socket, message);
    if (got < 0) memory::throw_map_error({"recv", {}}, "recvmsg", errno);
    memory::Fd came = descriptor_in(message);
    if (came) fd = std::move(came);
    // The kernel drops descriptors for which the process has no room, and says so only here.
    if ((message.msg_flags & MSG_CTRUNC) != 0 && !fd) {
      memory::throw_map_error({"recv", {}}, "recvmsg", EMFILE);
    }
    if (got == 0) memory::throw_map_error({"recv", {}}, "recvmsg", ECONNRESET);
    filled += static_cast<std::size_t>(got);
  }
  if (content.magic != magic || content.name_bytes > content.name.size() || !fd) {
    throw MapError(MapError::Kind::bad_header, EBADMSG, {"recv", {}},
                   "recv: expected a segment sent by send, got something else");
  }
  const AttachOptions options{.bytes = {}, .read_only = content.is_read_only != 0};
  return {Make::descriptor, std::string_view(content.name.data(), content.name_bytes),
          std::move(fd), options};
}

}  // namespace loup
