// SPDX-License-Identifier: Apache-2.0

// A program under load for as long as one likes, on libuv in other orders than the system's: it
// fails when a byte is wrong, or when its memory or its descriptors grow.
//
//   fermata_soak [SECONDS [SEED]]

#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>

#include "fermata/uv/reactor.hpp"
#include "tests/soak/load.hpp"
#include "tests/soak/measure.hpp"

namespace {

using namespace std::chrono_literals;
using fermata::soak::number;
using fermata::soak::Sample;
using fermata::soak::sample;
using fermata::soak::Verdict;

constexpr int kSamples = 20;
/// What memory may grow by after the first quarter: an eighth, and what an allocator keeps.
constexpr std::uint64_t kKept = 16 << 20;
/// Descriptors that the loop keeps once it was used: the one for changes to files, and libuv's
/// spare one.
constexpr std::int64_t kKeptDescriptors = 2;

void print(fermata::Duration at, const Sample& now, const fermata::soak::Counts& counts) {
  fmt::print(
      "{:>6.1f} s  {:>6} KiB  {:>4} descriptors  {:>8} connections  {:>6} MiB  {:>7} files  "
      "{:>8} events  {:>6} children\n",
      std::chrono::duration<double>(at).count(), now.memory / 1024, now.descriptors,
      counts.connections, counts.bytes >> 20, counts.files, counts.events, counts.children);
  std::fflush(stdout);
}

int soak(const std::string& folder, std::chrono::seconds length) {
  const Sample idle = sample();
  fermata::soak::Load load(folder);
  load.start();
  const fermata::Instant start = fermata::now();
  Sample settled;
  Sample last;
  for (int i = 1; i <= kSamples; ++i) {
    fermata::delay(fermata::Duration(length) / kSamples);
    last = sample();
    if (i <= kSamples / 4) {
      settled.memory = std::max(settled.memory, last.memory);
      settled.descriptors = std::max(settled.descriptors, last.descriptors);
    }
    print(fermata::now() - start, last, load.counts());
  }
  load.stop();
  fermata::delay(100ms);
  const Sample left = sample();
  const fermata::soak::Counts& counts = load.counts();

  Verdict verdict;
  verdict.require(counts.wrong == 0, fmt::format("{} parts were wrong", counts.wrong));
  verdict.require(counts.broken <= counts.cuts,
                  fmt::format("{} connections broke, {} were cut", counts.broken, counts.cuts));
  verdict.require(counts.bytes > 0 && counts.files > 0 && counts.events > 0 && counts.children > 0,
                  "a part of the load did nothing");
  verdict.require(
      last.memory <= settled.memory + settled.memory / 8 + kKept,
      fmt::format("memory has grown from {} to {} KiB", settled.memory / 1024, last.memory / 1024));
  verdict.require(
      last.descriptors <= 2 * settled.descriptors,
      fmt::format("descriptors have grown from {} to {}", settled.descriptors, last.descriptors));
  verdict.require(left.descriptors <= idle.descriptors + kKeptDescriptors,
                  fmt::format("{} descriptors are left of {}", left.descriptors, idle.descriptors));
  return verdict.exit_code();
}

}  // namespace

int main(int argc, char** argv) {
  const auto seconds = argc > 1 ? number(argv[1]) : 10;
  const auto seed = argc > 2 ? number(argv[2]) : 1;
  if (!seconds || *seconds == 0 || !seed || argc > 3) {
    fmt::print(stderr, "usage: {} [SECONDS [SEED]]\n", argv[0]);
    return 2;
  }
  std::string folder = std::filesystem::temp_directory_path() / "fermata_soak_XXXXXX";
  if (::mkdtemp(folder.data()) == nullptr) {
    std::perror("fermata_soak: make a folder");
    return 2;
  }
  fermata::Runtime runtime(fermata::uv::make_reactor({.reorder = *seed}));
  const int code = runtime.run([&] { return soak(folder, std::chrono::seconds(*seconds)); });
  std::filesystem::remove_all(folder);
  return code;
}
