// SPDX-License-Identifier: Apache-2.0

// Steps that concern descriptors of any kind.

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <string>

#include "tests/posix/scripts/answers.hpp"
#include "tests/posix/scripts/operations.hpp"

namespace fermata::test {

Answer close_it(Run& run, const Step& step) {
  return {fmt::format("close(${})", step.first), result_of(::close(run[step.first]))};
}

Answer duplicate(Run& run, const Step& step) {
  return opened(run, step, ::dup(run[step.first]), fmt::format("dup(${})", step.first));
}

Answer duplicate_from(Run& run, const Step& step) {
  const int least = step.one_of(0, {3, 6, 20, -1, 1024});
  const int command = step.one_of(1, {F_DUPFD, F_DUPFD_CLOEXEC});
  return opened(run, step, ::fcntl(run[step.first], command, least),
                fmt::format("fcntl(${}, {}, {})", step.first,
                            command == F_DUPFD ? "F_DUPFD" : "F_DUPFD_CLOEXEC", least));
}

namespace {

/// Mostly that of the second slot; never a standard stream.
int target_of(const Run& run, const Step& step) {
  const int target = step.one_of(1, {run[step.second], run[step.second], 9, 2000, -1});
  return target >= 0 && target <= STDERR_FILENO ? 9 : target;
}

}  // namespace

Answer duplicate_to(Run& run, const Step& step) {
  const int target = target_of(run, step);
  return opened(run, step, ::dup2(run[step.first], target),
                fmt::format("dup2(${}, {})", step.first, target));
}

Answer duplicate_to_with_flags(Run& run, const Step& step) {
  const int target = target_of(run, step);
  const int flags = step.one_of<int>(0, {0, O_CLOEXEC, 1});
  return opened(run, step, ::dup3(run[step.first], target, flags),
                fmt::format("dup3(${}, {}, {:#x})", step.first, target, flags));
}

Answer get_flags(Run& run, const Step& step) {
  const int command = step.one_of(0, {F_GETFL, F_GETFD});
  const int result = ::fcntl(run[step.first], command);
  return {fmt::format("fcntl(${}, {})", step.first, command == F_GETFL ? "F_GETFL" : "F_GETFD"),
          result < 0 ? result_of(result) : fmt::format("{:#x}", result)};
}

Answer set_close_on_exec(Run& run, const Step& step) {
  const int flags = step.one_of(0, {0, FD_CLOEXEC, 2});
  return {fmt::format("fcntl(${}, F_SETFD, {})", step.first, flags),
          result_of(::fcntl(run[step.first], F_SETFD, flags))};
}

// It is non-blocking again behind it.
Answer set_status(Run& run, const Step& step) {
  const int descriptor = run[step.first];
  const int flags = step.one_of(0, {0, O_APPEND, O_NONBLOCK | O_APPEND, O_RDWR});
  const std::string set = result_of(::fcntl(descriptor, F_SETFL, flags));
  const int got = ::fcntl(descriptor, F_GETFL);
  static_cast<void>(::fcntl(descriptor, F_SETFL, O_NONBLOCK));
  return {fmt::format("fcntl(${}, F_SETFL, {:#x}), F_GETFL", step.first, flags),
          fmt::format("{}, {:#x}", set, got)};
}

Answer set_blocking(Run& run, const Step& step) {
  const int descriptor = run[step.first];
  int value = 0;
  const std::string set = result_of(::ioctl(descriptor, FIONBIO, &value));
  const int got = ::fcntl(descriptor, F_GETFL);
  value = step.one_of(0, {1, 7});
  static_cast<void>(::ioctl(descriptor, FIONBIO, &value));
  return {fmt::format("ioctl(${}, FIONBIO, 0), F_GETFL", step.first),
          fmt::format("{}, {:#x}", set, got)};
}

Answer count_readable(Run& run, const Step& step) {
  int bytes = -1;
  const int result = ::ioctl(run[step.first], FIONREAD, &bytes);
  return {fmt::format("ioctl(${}, FIONREAD)", step.first),
          result_with(result, [&] { return fmt::to_string(bytes); })};
}

}  // namespace fermata::test
