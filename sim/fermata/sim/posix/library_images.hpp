// SPDX-License-Identifier: Apache-2.0
#pragma once

// The global variables of foreign libraries, for each simulated process its own.
//
// Lives      A process begins with the variables as they were when the library had been loaded,
//            those of threads included, whatever other processes, and earlier runs, have left in
//            them.
// Which      Shared libraries that neither belong to the system, to the compiler nor to Fermata.
//            Static variables of the program itself are not touched.
// Loading    What the program is linked with is known from its start on, what is loaded later from
//            the next run on, as it is then.
// Sanitizers Off under AddressSanitizer: what a variable pointed to would count as a leak.
// Cost       A copy of the variables when another process comes to run, both ways.

#include <cstddef>
#include <span>
#include <vector>

namespace fermata::sim::detail {

/// What a process has in the variables while another one runs.
class LibraryImage {
 public:
  LibraryImage() = default;
  LibraryImage(const LibraryImage&) = delete;
  LibraryImage& operator=(const LibraryImage&) = delete;
  ~LibraryImage() { forget(); }

  /// The process ends: when it comes to run again, it begins a life.
  void forget() noexcept;

 private:
  friend class LibraryImages;

  std::vector<std::byte> bytes_;  // Empty: at the beginning of a life.
};

class LibraryImages {
 public:
  /// The one of this real process.
  [[nodiscard]] static LibraryImages& instance();

  /// A run begins: libraries that have been loaded meanwhile are found.
  void begin_run();
  /// The process of `image` comes to run.
  void enter(LibraryImage& image) {
    if (current_ != &image) change_to(image);
  }
  /// The run is over: the variables are as they were before it.
  void end_run();

 private:
  friend class LibraryImage;
  /// Variables of a library that lie side by side.
  struct Region {
    std::span<std::byte> live;
    std::vector<std::byte> pristine;  // As after loading.
  };

  LibraryImages() = default;
  void find_regions();
  void change_to(LibraryImage& image);
  void save(std::vector<std::byte>& bytes) const;
  void load(const std::vector<std::byte>& bytes) const;
  void load_pristine() const;

  std::vector<Region> regions_;
  std::size_t size_ = 0;  // Of all regions together.
  LibraryImage outside_;  // Of the program, while a run goes on.
  LibraryImage* current_ = &outside_;
};

}  // namespace fermata::sim::detail
