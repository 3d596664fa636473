// SPDX-License-Identifier: Apache-2.0

// What a process may use. Only the number of descriptors is kept to; what else is set can be read.

#include <sys/resource.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>

#include "fermata/base/assert.hpp"
#include "fermata/posix/process_state.hpp"
#include "fermata/posix/served/own_allocator.hpp"
#include "fermata/posix/served/real.hpp"

using fermata::posix::answer;
using fermata::posix::Kernel;
using fermata::posix::ProcessState;
using fermata::posix::ResourceLimits;
using fermata::posix::serving_machine;

namespace {

/// Null: the limits are those of the real process.
ProcessState* state() noexcept {
  Kernel* const machine = serving_machine();
  return machine == nullptr ? nullptr : machine->state();
}

/// 0 or a negative errno. Either may be null.
template <class Limit>
int exchange(ProcessState& process, int resource, const Limit* wanted, Limit* before) noexcept {
  if (resource < 0 || resource >= static_cast<int>(RLIM_NLIMITS)) return -EINVAL;
  rlimit& kept = process.limits[static_cast<std::size_t>(resource)];
  if (wanted != nullptr && wanted->rlim_cur > wanted->rlim_max) return -EINVAL;
  const bool is_descriptors = resource == RLIMIT_NOFILE;
  if (wanted != nullptr && is_descriptors && wanted->rlim_max > ResourceLimits::kMostDescriptors) {
    return -EPERM;
  }
  FERMATA_ASSERT(kept.rlim_cur <= kept.rlim_max);
  if (before != nullptr) *before = {kept.rlim_cur, kept.rlim_max};
  if (wanted != nullptr) kept = {wanted->rlim_cur, wanted->rlim_max};
  return 0;
}

#ifndef FERMATA_OWN_ALLOCATOR
template <class Limit>
int set(ProcessState& process, int resource, const Limit* wanted) noexcept {
  return wanted == nullptr ? -EFAULT : exchange<Limit>(process, resource, wanted, nullptr);
}

__rlimit_resource which(int resource) noexcept { return static_cast<__rlimit_resource>(resource); }
#endif

bool is_this(pid_t process) noexcept { return process == 0 || process == ::getpid(); }

}  // namespace

extern "C" {

// A sanitizer asks for them, and sets them, before anything is ready.
#ifndef FERMATA_OWN_ALLOCATOR

int getrlimit(__rlimit_resource_t resource, rlimit* limit) noexcept {
  ProcessState* const process = state();
  return process == nullptr ? FERMATA_REAL(prlimit)(0, which(resource), nullptr, limit)
                            : answer(exchange<rlimit>(*process, resource, nullptr, limit));
}

int getrlimit64(__rlimit_resource_t resource, rlimit64* limit) noexcept {
  ProcessState* const process = state();
  return process == nullptr ? FERMATA_REAL(prlimit64)(0, which(resource), nullptr, limit)
                            : answer(exchange<rlimit64>(*process, resource, nullptr, limit));
}

int setrlimit(__rlimit_resource_t resource, const rlimit* limit) noexcept {
  ProcessState* const process = state();
  return process == nullptr ? FERMATA_REAL(prlimit)(0, which(resource), limit, nullptr)
                            : answer(set(*process, resource, limit));
}

int setrlimit64(__rlimit_resource_t resource, const rlimit64* limit) noexcept {
  ProcessState* const process = state();
  return process == nullptr ? FERMATA_REAL(prlimit64)(0, which(resource), limit, nullptr)
                            : answer(set(*process, resource, limit));
}

#endif

int prlimit(pid_t of, __rlimit_resource resource, const rlimit* limit, rlimit* before) noexcept {
  ProcessState* const process = state();
  if (process == nullptr) return FERMATA_REAL(prlimit)(of, resource, limit, before);
  return answer(is_this(of) ? exchange(*process, resource, limit, before) : -ESRCH);
}

int prlimit64(pid_t of, __rlimit_resource resource, const rlimit64* limit,
              rlimit64* before) noexcept {
  ProcessState* const process = state();
  if (process == nullptr) return FERMATA_REAL(prlimit64)(of, resource, limit, before);
  return answer(is_this(of) ? exchange(*process, resource, limit, before) : -ESRCH);
}

}  // extern "C"
