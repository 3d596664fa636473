// SPDX-License-Identifier: Apache-2.0
#include "fermata/os/fork_guard.hpp"
#include "fermata/system/system_calls.hpp"

#include <pthread.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace fermata::os {

namespace {

/// Written in a child that has no other thread yet.
unsigned forks_so_far = 0;

}  // namespace

unsigned forks() noexcept {
  [[maybe_unused]] static const int counting =
      ::pthread_atfork(nullptr, nullptr, [] { ++forks_so_far; });
  return forks_so_far;
}

ForkGuard::ForkGuard() noexcept : forks_(forks()), process_(os::kernel.getpid()) {}

void ForkGuard::refuse(std::string_view reactor) const noexcept {
  std::fprintf(stderr,
               "fermata: reactor '%.*s' was made by process %d and cannot be used in its fork %d: "
               "call exec or _exit in the child, or make a reactor there\n",
               static_cast<int>(reactor.size()), reactor.data(), process_, os::kernel.getpid());
  std::abort();
}

}  // namespace fermata::os
