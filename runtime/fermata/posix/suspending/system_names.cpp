// SPDX-License-Identifier: Apache-2.0

// Names of hosts, and sleeps; and what does not come here.

#include <netdb.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "fermata/base/assert.hpp"
#include "fermata/posix/suspending/system_kernel.hpp"
#include "fermata/posix/suspending/system_transfer.hpp"
#include "fermata/system/system_calls.hpp"

namespace fermata::posix {

namespace {

/// What a thread that looks up names has found. It may outlive the call.
struct Found {
  int code = 0;
  int error = 0;  // errno.
  std::vector<sockaddr_storage> addresses;
  char host[NI_MAXHOST] = {};
  char service[NI_MAXSERV] = {};
};

void add(const addrinfo& entry, std::vector<sockaddr_storage>& addresses) {
  sockaddr_storage address = {};
  if (entry.ai_addrlen > sizeof address) return;
  std::memcpy(&address, entry.ai_addr, entry.ai_addrlen);
  const bool known = std::any_of(addresses.begin(), addresses.end(), [&](const auto& each) {
    return std::memcmp(&each, &address, sizeof address) == 0;
  });
  if (!known) addresses.push_back(address);
}

/// The result of a function that has an errno for EAI_SYSTEM.
int told_by(int waited, const Found& found) noexcept {
  errno = waited != 0 ? -waited : found.error;
  return waited != 0 ? EAI_SYSTEM : found.code;
}

/// Copies what may be null.
std::shared_ptr<const std::string> kept(const char* text) {
  return text == nullptr ? nullptr : std::make_shared<const std::string>(text);
}

}  // namespace

int SystemKernel::addresses_of(const char* host, const char* service, const addrinfo& hints,
                               std::vector<sockaddr_storage>& found) {
  const auto result = std::make_shared<Found>();
  addrinfo asked = {};
  asked.ai_flags = hints.ai_flags;
  asked.ai_family = hints.ai_family;
  asked.ai_socktype = hints.ai_socktype;
  asked.ai_protocol = hints.ai_protocol;
  const auto work = [result, host = kept(host), service = kept(service), asked] {
    addrinfo* list = nullptr;
    result->code =
        os::kernel.getaddrinfo(host != nullptr ? host->c_str() : nullptr,
                               service != nullptr ? service->c_str() : nullptr, &asked, &list);
    result->error = errno;
    if (result->code != 0) return;
    for (const addrinfo* each = list; each != nullptr; each = each->ai_next) {
      add(*each, result->addresses);
    }
    ::freeaddrinfo(list);
  };
  const int waited = waiter_.run_blocking(work);
  if (waited == 0) found = result->addresses;
  return told_by(waited, *result);
}

int SystemKernel::name_of(const sockaddr* address, socklen_t size, int flags, std::string& host,
                          std::string& service) {
  sockaddr_storage asked = {};
  if (address == nullptr || size > sizeof asked) return EAI_FAMILY;
  std::memcpy(&asked, address, size);
  const auto result = std::make_shared<Found>();
  const auto work = [result, asked, size, flags] {
    result->code =
        os::kernel.getnameinfo(reinterpret_cast<const sockaddr*>(&asked), size, result->host,
                               sizeof result->host, result->service, sizeof result->service, flags);
    result->error = errno;
  };
  const int waited = waiter_.run_blocking(work);
  if (waited == 0) {
    host = result->host;
    service = result->service;
  }
  return told_by(waited, *result);
}

int SystemKernel::sleep(clockid_t clock, int flags, const timespec& time, timespec* left) {
  constexpr long kBillion = 1'000'000'000;
  if (time.tv_nsec < 0 || time.tv_nsec >= kBillion || time.tv_sec < 0) return -EINVAL;
  timespec begun = {};
  if (os::kernel.clock_gettime(clock, &begun) != 0) return -errno;
  static constexpr time_t kLongest = 4'000'000'000;  // In seconds; nanoseconds can tell it.
  const auto span_of = [](const timespec& each) {
    return std::chrono::seconds(std::min(each.tv_sec, kLongest)) +
           std::chrono::nanoseconds(each.tv_nsec);
  };
  const bool absolute = (flags & TIMER_ABSTIME) != 0;
  const End end(std::max(absolute ? span_of(time) - span_of(begun) : span_of(time),
                         std::chrono::nanoseconds::zero()));
  const int slept = waiter_.sleep(*end.rest());
  if (slept != 0 && left != nullptr && !absolute) *left = os::to_timespec(end.rest()->count());
  return slept;
}

void SystemKernel::yield() { waiter_.yield(); }

// --- not of its extent ---

namespace {
[[noreturn]] void is_not_asked() {
  FERMATA_ASSERT(false);
  std::abort();
}
}  // namespace

int SystemKernel::fstat(int, struct stat&) { is_not_asked(); }
std::string SystemKernel::host_name() { is_not_asked(); }
std::vector<Interface> SystemKernel::interfaces() { is_not_asked(); }
int SystemKernel::clock_gettime(clockid_t, timespec&) { is_not_asked(); }
int SystemKernel::clock_settime(clockid_t, const timespec&) { is_not_asked(); }
void SystemKernel::refuse(const char*, const void*) { is_not_asked(); }
void SystemKernel::abort(std::string) { is_not_asked(); }
void SystemKernel::terminate(std::string) { is_not_asked(); }
void SystemKernel::fill_randomly(std::span<std::byte>) { is_not_asked(); }
std::int32_t SystemKernel::next_random() { is_not_asked(); }
void SystemKernel::seed_random(unsigned) { is_not_asked(); }

}  // namespace fermata::posix
