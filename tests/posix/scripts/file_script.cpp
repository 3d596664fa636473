// SPDX-License-Identifier: Apache-2.0
#include "tests/posix/scripts/file_script.hpp"

#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>

namespace fermata::test {

namespace {

using namespace kind;  // NOLINT(google-build-using-namespace): the rows of a table.

constexpr Kinds kFile = kStream;
constexpr std::array<Kinds, 2> kMakesNothing = {kNone, kNone};

const std::array kFileOperations = {
    Operation{8, kNone, kNone, {kFile, kNone}, kNone, open_file},
    Operation{2, kFile, kNone, {kFile, kNone}, kNone, open_file_at},
    Operation{2, kFile, kNone, kMakesNothing, kNone, close_file},
    Operation{1, kFile, kNone, {kFile, kNone}, kNone, duplicate_file},
    Operation{4, kFile, kNone, kMakesNothing, kNone, read_file},
    Operation{3, kFile, kNone, kMakesNothing, kNone, read_file_at},
    Operation{6, kFile, kNone, kMakesNothing, kNone, write_file},
    Operation{3, kFile, kNone, kMakesNothing, kNone, write_file_at},
    Operation{3, kFile, kNone, kMakesNothing, kNone, seek_file},
    Operation{2, kFile, kNone, kMakesNothing, kNone, truncate_file},
    Operation{1, kNone, kNone, kMakesNothing, kNone, truncate_path},
    Operation{2, kFile, kNone, kMakesNothing, kNone, allocate_file},
    Operation{1, kFile, kNone, kMakesNothing, kNone, sync_file},
    Operation{1, kFile, kNone, kMakesNothing, kNone, append_from_now_on},
    Operation{2, kFile, kFile, kMakesNothing, kNone, copy_file},
    Operation{2, kFile, kNone, kMakesNothing, kNone, map_file},
    Operation{2, kNone, kNone, kMakesNothing, kNone, write_stream},
    Operation{4, kNone, kNone, kMakesNothing, kNone, tell_status},
    Operation{3, kFile, kNone, kMakesNothing, kNone, tell_status_of_file},
    Operation{1, kNone, kNone, kMakesNothing, kNone, tell_access},
    Operation{2, kNone, kNone, kMakesNothing, kNone, change_mode},
    Operation{2, kNone, kNone, kMakesNothing, kNone, change_times},
    Operation{4, kNone, kNone, kMakesNothing, kNone, remove_path},
    Operation{5, kNone, kNone, kMakesNothing, kNone, make_directory},
    Operation{5, kNone, kNone, kMakesNothing, kNone, rename_path},
    Operation{3, kNone, kNone, kMakesNothing, kNone, link_path},
    Operation{4, kNone, kNone, kMakesNothing, kNone, make_link},
    Operation{2, kNone, kNone, kMakesNothing, kNone, read_link},
    Operation{3, kNone, kNone, kMakesNothing, kNone, list_directory},
    Operation{2, kFile, kNone, kMakesNothing, kNone, change_directory},
    Operation{3, kNone, kNone, kMakesNothing, kNone, resolve_path},
    Operation{4, kFile, kNone, kMakesNothing, kNone, lock_range},
    Operation{2, kFile, kNone, kMakesNothing, kNone, lock_file},
    Operation{5, kNone, kNone, kMakesNothing, kNone, name_socket},
};

const Operation& any_operation(std::uint64_t drawn) {
  const unsigned sum =
      std::accumulate(kFileOperations.begin(), kFileOperations.end(), 0u,
                      [](unsigned before, const Operation& each) { return before + each.weight; });
  auto left = static_cast<unsigned>(drawn % sum);
  for (const Operation& each : kFileOperations) {
    if (left < each.weight) return each;
    left -= each.weight;
  }
  return kFileOperations.front();
}

int remove_one(const char* path, const struct stat*, int, FTW*) { return std::remove(path); }

}  // namespace

Script draw_file_script(std::uint64_t number) {
  constexpr std::uint64_t kShortest = 6;
  constexpr std::uint64_t kLengths = 24;
  std::mt19937_64 generator(number);
  Script script;
  const std::size_t length = kShortest + generator() % kLengths;
  int slots = 0;
  while (script.size() < length) {
    const Operation& drawn = slots == 0 ? kFileOperations[0] : any_operation(generator());
    Step step;
    step.operation = &drawn;
    step.value = generator();
    const auto any_slot = [&] {
      return static_cast<int>(generator() % static_cast<unsigned>(slots));
    };
    if (drawn.first != kNone) step.first = any_slot();
    if (drawn.second != kNone) step.second = any_slot();
    if (drawn.makes[0] != kNone) step.made[0] = slots++;
    script.push_back(step);
  }
  return script;
}

void prepare_files(const std::string& place) {
  constexpr mode_t kUsual = 022;
  constexpr int kMostOpen = 16;
  if (::chdir(place.c_str()) != 0) throw std::runtime_error("chdir: " + place);
  ::umask(kUsual);
  struct stat status = {};
  const bool is_there = ::lstat("files", &status) == 0;
  if (is_there) ::nftw("files", remove_one, kMostOpen, FTW_DEPTH | FTW_PHYS);
  if (::mkdir("files", 0755) != 0 || ::chdir("files") != 0) {
    throw std::runtime_error("no directory for files");
  }
}

const char* path_of(const Step& step, unsigned digit) {
  return step.one_of(digit,
                     {"a", "a", "b",   "b",  "c",  "d",  "d",   "d/a",    "d/b",    "d/e", "d/e/a",
                      "l", "l", "l/a", "a/", "d/", "l/", "./a", "d/../b", "none/a", "",    "."});
}

}  // namespace fermata::test
