// SPDX-License-Identifier: Apache-2.0

// What a simulated machine is made of and runs: the same on every real one.

#include <sched.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <ctime>

#include "fermata/base/assert.hpp"
#include "fermata/posix/process_state.hpp"
#include "fermata/posix/served/told_by_caller.hpp"

using fermata::posix::Kernel;
using fermata::posix::machine_for;
using fermata::posix::ResourceLimits;
using fermata::posix::serving_machine;

namespace {

constexpr int kProcessors = 4;
constexpr unsigned long kMemoryBytes = 8UL << 30;
constexpr unsigned long kFreeMemoryBytes = kMemoryBytes / 2;
constexpr long kPageBytes = 4096;
constexpr long kCacheLineBytes = 64;

timespec time_of(Kernel& machine, clockid_t clock) noexcept {
  timespec time = {};
  [[maybe_unused]] const int code = machine.clock_gettime(clock, time);
  FERMATA_ASSERT(code == 0);
  return time;
}

/// What sysconf() gives that depends on the machine; else what the C library says.
long configuration(int name) noexcept {
  FERMATA_ASSERT(serving_machine() != nullptr);
  switch (name) {
    case _SC_NPROCESSORS_CONF:
    case _SC_NPROCESSORS_ONLN:
      return kProcessors;
    case _SC_PHYS_PAGES:
      return static_cast<long>(kMemoryBytes) / kPageBytes;
    case _SC_AVPHYS_PAGES:
      return static_cast<long>(kFreeMemoryBytes) / kPageBytes;
    case _SC_OPEN_MAX:
      return static_cast<long>(serving_machine()->state()->limits[RLIMIT_NOFILE].rlim_cur);
    case _SC_CHILD_MAX:
      return -1;  // No limit.
    case _SC_ARG_MAX:
      return static_cast<long>(ResourceLimits::kStackBytes / 4);
    case _SC_LEVEL1_ICACHE_LINESIZE:
    case _SC_LEVEL1_DCACHE_LINESIZE:
    case _SC_LEVEL2_CACHE_LINESIZE:
    case _SC_LEVEL3_CACHE_LINESIZE:
      return kCacheLineBytes;
    default:
      break;
  }
  const bool is_of_caches = name >= _SC_LEVEL1_ICACHE_SIZE && name <= _SC_LEVEL4_CACHE_LINESIZE;
  return is_of_caches ? 0 : FERMATA_REAL(sysconf)(name);  // 0: not known.
}

int fail_with(int code) noexcept {
  FERMATA_ASSERT(code > 0);
  errno = code;
  return -1;
}

/// 0 or an errno value.
int fill_affinity(size_t size, cpu_set_t* set) noexcept {
  FERMATA_ASSERT(set != nullptr);
  if (size < sizeof(unsigned long) || size % sizeof(unsigned long) != 0) return EINVAL;
  CPU_ZERO_S(size, set);
  for (int i = 0; i < kProcessors; ++i) CPU_SET_S(i, size, set);
  return 0;
}

/// 0 or an errno value: who runs where is not simulated.
int check_affinity(size_t size, const cpu_set_t* set) noexcept {
  FERMATA_ASSERT(set != nullptr);
  for (int i = 0; i < kProcessors; ++i) {
    if (CPU_ISSET_S(i, size, set)) return 0;
  }
  return EINVAL;
}

}  // namespace

extern "C" {

int uname(utsname* names) noexcept {
  Kernel* const machine = serving_machine();
  if (machine == nullptr) return FERMATA_REAL(uname)(names);
  FERMATA_ASSERT(names != nullptr);
  *names = {};
  std::strcpy(names->sysname, "Linux");
  std::snprintf(names->nodename, sizeof names->nodename, "%s", machine->host_name().c_str());
  std::strcpy(names->release, "6.1.0");
  std::strcpy(names->version, "#1 SMP");
  std::strcpy(names->machine, "x86_64");
  std::strcpy(names->domainname, "(none)");
  return 0;
}

int sysinfo(struct sysinfo* info) noexcept {
  Kernel* const machine = serving_machine();
  if (machine == nullptr) return FERMATA_REAL(sysinfo)(info);
  FERMATA_ASSERT(info != nullptr);
  *info = {};
  info->uptime = time_of(*machine, CLOCK_BOOTTIME).tv_sec;
  info->totalram = kMemoryBytes;
  info->freeram = kFreeMemoryBytes;
  info->procs = 1;
  info->mem_unit = 1;
  return 0;
}

// --- processors ---

int get_nprocs() noexcept {
  return serving_machine() == nullptr ? FERMATA_REAL(get_nprocs)() : kProcessors;
}

int get_nprocs_conf() noexcept {
  return serving_machine() == nullptr ? FERMATA_REAL(get_nprocs_conf)() : kProcessors;
}

int sched_getcpu() noexcept {
  return serving_machine() == nullptr ? FERMATA_REAL(sched_getcpu)() : 0;
}

int sched_getaffinity(pid_t process, size_t size, cpu_set_t* set) noexcept {
  if (serving_machine() == nullptr) return FERMATA_REAL(sched_getaffinity)(process, size, set);
  const int code = fill_affinity(size, set);
  return code == 0 ? 0 : fail_with(code);
}

int sched_setaffinity(pid_t process, size_t size, const cpu_set_t* set) noexcept {
  if (serving_machine() == nullptr) return FERMATA_REAL(sched_setaffinity)(process, size, set);
  const int code = check_affinity(size, set);
  return code == 0 ? 0 : fail_with(code);
}

int pthread_getaffinity_np(pthread_t thread, size_t size, cpu_set_t* set) noexcept {
  return serving_machine() == nullptr ? FERMATA_REAL(pthread_getaffinity_np)(thread, size, set)
                                      : fill_affinity(size, set);
}

int pthread_setaffinity_np(pthread_t thread, size_t size, const cpu_set_t* set) noexcept {
  return serving_machine() == nullptr ? FERMATA_REAL(pthread_setaffinity_np)(thread, size, set)
                                      : check_affinity(size, set);
}

// --- what is configured, and what has been used ---

long sysconf(int name) noexcept {
  const bool is_served = machine_for(__builtin_return_address(0)) != nullptr;
  return is_served ? configuration(name) : FERMATA_REAL(sysconf)(name);
}

long __sysconf(int name) noexcept;

long __sysconf(int name) noexcept {
  const bool is_served = machine_for(__builtin_return_address(0)) != nullptr;
  return is_served ? configuration(name) : FERMATA_REAL(__sysconf)(name);
}

long pathconf(const char* path, int name) noexcept {
  if (serving_machine() == nullptr) return FERMATA_REAL(pathconf)(path, name);
  switch (name) {
    case _PC_NAME_MAX:
      return NAME_MAX;
    case _PC_PATH_MAX:
      return PATH_MAX;
    case _PC_PIPE_BUF:
      return PIPE_BUF;
    case _PC_NO_TRUNC:
    case _PC_CHOWN_RESTRICTED:
      return 1;
    default:
      return fail_with(EINVAL);
  }
}

// The time of a process whose one processor has worked all the time.
int getrusage(__rusage_who_t who, rusage* usage) noexcept {
  Kernel* const machine = serving_machine();
  if (machine == nullptr) return FERMATA_REAL(getrusage)(who, usage);
  FERMATA_ASSERT(usage != nullptr);
  *usage = {};
  if (who == RUSAGE_CHILDREN) return 0;
  const timespec time = time_of(*machine, CLOCK_PROCESS_CPUTIME_ID);
  constexpr long kMicrosecond = 1000;
  usage->ru_utime = {time.tv_sec, time.tv_nsec / kMicrosecond};
  return 0;
}

}  // extern "C"
