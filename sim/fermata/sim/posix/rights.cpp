// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/posix/rights.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/sim/posix/descriptor_table.hpp"

namespace fermata::sim::detail {

namespace {

constexpr std::size_t kMostInMessage = 253;  // SCM_MAX_FD

/// Adds the descriptors of one control message.
int add_rights(std::span<const std::byte> numbers, const DescriptorTable& table,
               std::shared_ptr<Rights>& rights) {
  const std::size_t count = numbers.size() / sizeof(int);
  if (count == 0) return 0;
  if (rights == nullptr) rights = std::make_shared<Rights>();
  if (count + rights->descriptions.size() > kMostInMessage) return -EINVAL;
  for (std::size_t i = 0; i < count; ++i) {
    int descriptor = -1;
    std::memcpy(&descriptor, &numbers[i * sizeof descriptor], sizeof descriptor);
    Description* const found = table.use(descriptor);
    if (found == nullptr) return -EBADF;
    rights->descriptions.push_back(found->shared_from_this());
  }
  return 0;
}

/// Whether a process that is `own` may say that it is so.
int check_credentials(std::span<const std::byte> data, pid_t own) noexcept {
  ucred told = {};
  if (data.size() != sizeof told) return -EINVAL;
  std::memcpy(&told, data.data(), sizeof told);
  return told.pid == own && told.uid == 0 && told.gid == 0 ? 0 : -EPERM;
}

}  // namespace

void RightsUnderWay::add(const std::shared_ptr<Rights>& rights) {
  FERMATA_ASSERT(rights != nullptr);
  std::erase_if(all_, [](const std::weak_ptr<Rights>& each) { return each.expired(); });
  all_.push_back(rights);
}

void RightsUnderWay::drop_all() {
  for (const std::weak_ptr<Rights>& each : std::exchange(all_, {})) {
    const std::shared_ptr<Rights> rights = each.lock();
    if (rights != nullptr) std::exchange(rights->descriptions, {}).clear();
  }
}

int read_rights(const msghdr& message, const DescriptorTable& table, pid_t own,
                std::shared_ptr<Rights>& rights) {
  if (message.msg_control == nullptr && message.msg_controllen > 0) return -EFAULT;
  const std::span<const std::byte> all(static_cast<const std::byte*>(message.msg_control),
                                       message.msg_controllen);
  for (std::size_t at = 0; at + sizeof(cmsghdr) <= all.size();) {
    cmsghdr header = {};
    std::memcpy(&header, &all[at], sizeof header);
    if (header.cmsg_len < sizeof header || header.cmsg_len > all.size() - at) return -EINVAL;
    const std::span<const std::byte> data =
        all.subspan(at + sizeof header, header.cmsg_len - sizeof header);
    at += CMSG_ALIGN(header.cmsg_len);
    if (header.cmsg_level != SOL_SOCKET) continue;
    int code = -EINVAL;
    if (header.cmsg_type == SCM_RIGHTS) code = add_rights(data, table, rights);
    if (header.cmsg_type == SCM_CREDENTIALS) code = check_credentials(data, own);
    if (code != 0) return code;
  }
  return 0;
}

void hand_over(const Rights* rights, DescriptorTable& table, msghdr& message, int flags) {
  auto* const control = static_cast<std::byte*>(message.msg_control);
  const std::size_t size = control == nullptr ? 0 : message.msg_controllen;
  message.msg_controllen = 0;
  message.msg_flags |= flags & MSG_CMSG_CLOEXEC;
  if (rights == nullptr) return;
  const std::size_t room =
      size > sizeof(cmsghdr) ? (size - sizeof(cmsghdr)) / sizeof(int) : std::size_t{0};
  std::vector<int> opened;
  for (const auto& each : rights->descriptions) {
    if (opened.size() == room || table.is_full("descriptor in a message")) break;
    const int descriptor =
        table.open({.description = each, .close_on_exec = (flags & MSG_CMSG_CLOEXEC) != 0});
    if (descriptor < 0) break;
    opened.push_back(descriptor);
  }
  if (opened.size() < rights->descriptions.size()) message.msg_flags |= MSG_CTRUNC;
  if (opened.empty()) return;
  const std::size_t bytes = opened.size() * sizeof(int);
  FERMATA_ASSERT(sizeof(cmsghdr) + bytes <= size);
  cmsghdr header = {};
  header.cmsg_len = CMSG_LEN(bytes);
  header.cmsg_level = SOL_SOCKET;
  header.cmsg_type = SCM_RIGHTS;
  std::memcpy(control, &header, sizeof header);
  std::memcpy(control + sizeof header, opened.data(), bytes);
  message.msg_controllen = std::min<std::size_t>(CMSG_SPACE(bytes), size);
}

}  // namespace fermata::sim::detail
