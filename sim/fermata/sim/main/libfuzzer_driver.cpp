// SPDX-License-Identifier: Apache-2.0

// libFuzzer as a library (llvm.org/docs/LibFuzzer.html): an input that fails ends the process, and
// libFuzzer writes it to a file.

#include <sys/time.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "fermata/base/assert.hpp"
#include "fermata/sim/fuzz/driver.hpp"

extern "C" int LLVMFuzzerRunDriver(int* argc, char*** argv,
                                   int (*run_one)(const std::uint8_t* data, std::size_t size));

namespace fermata::sim::detail {
namespace {

int argument_count = 0;
char** argument_texts = nullptr;
FuzzSession* fuzzed = nullptr;

/// Making a failure small takes longer than a run may.
void stop_alarms() {
  const itimerval never{};
  ::setitimer(ITIMER_REAL, &never, nullptr);
}

/// Once, after the last input.
void tell_end() {
  if (fuzzed != nullptr) std::exchange(fuzzed, nullptr)->tell_end();
}

int run_one(const std::uint8_t* data, std::size_t size) {
  FERMATA_ASSERT(fuzzed != nullptr);
  if (fuzzed->run({data, size})) return 0;
  tell_end();
  std::fflush(nullptr);
  std::abort();
}

std::size_t copy(const std::vector<std::uint8_t>& bytes, std::uint8_t* to) {
  std::memcpy(to, bytes.data(), bytes.size());
  return bytes.size();
}

}  // namespace

void take_arguments(int argc, char** argv) {
  argument_count = argc;
  argument_texts = argv;
}

void drive(FuzzSession& session) {
  FERMATA_ASSERT(argument_texts != nullptr);
  FERMATA_ASSERT(fuzzed == nullptr);
  fuzzed = &session;
  session.call_before_report(&stop_alarms);
  std::atexit(&tell_end);  // When it has mutated all that it was to, it exits.
  LLVMFuzzerRunDriver(&argument_count, &argument_texts, &run_one);
  tell_end();
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t room, unsigned seed) {
  FERMATA_ASSERT(size <= room);
  return copy(fuzzed->target().mutated({data, size}, room, seed), data);
}

// libFuzzer crosses inputs as often as it changes one, which is too often.
extern "C" std::size_t LLVMFuzzerCustomCrossOver(const std::uint8_t* one, std::size_t one_size,
                                                 const std::uint8_t* other, std::size_t other_size,
                                                 std::uint8_t* child, std::size_t room,
                                                 unsigned seed) {
  const FuzzTarget& target = fuzzed->target();
  return copy(seed % 4 == 0 ? target.crossed({one, one_size}, {other, other_size}, room, seed)
                            : target.mutated({one, one_size}, room, seed),
              child);
}

}  // namespace fermata::sim::detail
