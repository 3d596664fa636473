// SPDX-License-Identifier: Apache-2.0
#include "tests/posix/library/stubborn.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <cassert>
#include <clocale>
#include <cstdlib>
#include <ctime>

namespace {

int count = 0;
thread_local int count_of_thread = 0;

long now() {
  timespec time = {};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

int stubborn_count() { return ++count; }

int stubborn_count_of_thread() { return ++count_of_thread; }

void* stubborn_allocate(unsigned size) { return std::malloc(size); }

void stubborn_free(void* memory) { std::free(memory); }

void stubborn_abort() { std::abort(); }

void stubborn_assert(int condition) { assert(condition == 1); }

void stubborn_exit(int code) { std::exit(code); }

void stubborn_read(int descriptor) {
  char byte = 0;
  while (::read(descriptor, &byte, 1) != 1) {
  }
}

int stubborn_run(const char* command) { return std::system(command); }

const char* stubborn_variable(const char* name) { return std::getenv(name); }

int stubborn_set_variable(const char* name, const char* value) {
  return value == nullptr ? ::unsetenv(name) : ::setenv(name, value, 1);
}

const char* stubborn_locale(const char* name) { return std::setlocale(LC_ALL, name); }

long stubborn_configuration(int name) { return ::sysconf(name); }

unsigned long stubborn_limit(int resource) {
  rlimit limit = {};
  ::getrlimit(static_cast<__rlimit_resource>(resource), &limit);
  return limit.rlim_cur;
}

void stubborn_spin(long nanoseconds) {
  const long end = now() + nanoseconds;
  while (now() < end) {
  }
}
