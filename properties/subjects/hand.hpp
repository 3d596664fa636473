// SPDX-License-Identifier: Apache-2.0
#pragma once

// A hand that changes files and folders as it is told, one thing after the other, and says what it
// has changed. Nobody can interrupt it, so that it always knows.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "fermata/runtime.hpp"
#include "properties/models/tree_model.hpp"
#include "properties/models/watch_model.hpp"

namespace fermata::properties {

class Hand {
 public:
  using Moment = models::TreeModel::Moment;

  /// Wants to know what is changed. None of it suspends.
  class Witness {
   public:
    virtual void changed(const std::string& path, unsigned bits, bool gone,
                         const Moment& since) = 0;
    virtual void may_have_changed(const std::string& path, const Moment& since) = 0;
    /// `from` is now `to`, or gone when that is empty; what was at `to` is gone. Told before the
    /// tree knows.
    virtual void moves(const std::string& from, const std::string& to) = 0;
    /// It has come with a directory that it is in.
    virtual void moved_in(const std::string& path, const Moment& since) = 0;

   protected:
    ~Witness() = default;
  };

  enum What : std::uint8_t { kWrite, kMakeDirectory, kRemove, kRename };
  struct Job {
    What what;
    std::size_t a, b;  // Which entry, and which name or place; of those that there are then.
  };

  explicit Hand(Witness& witness) : witness_(witness) {}

  [[nodiscard]] const models::TreeModel& tree() const { return tree_; }
  /// A moment that comes after all before it.
  [[nodiscard]] std::uint64_t tick() { return ++ticks_; }

  /// Begins it when it is its turn. Does not suspend.
  void begin(const Job& job);
  [[nodiscard]] bool is_idle() const { return !turn_.is_locked(); }
  /// Returns when all that was begun is done. Suspends.
  void finish();

  // --- at once; REQUIRES: nothing was begun that is not done. They suspend, and insist. ---

  void make_directory(const std::string& path);
  void write(const std::string& path);
  void remove(const std::string& path);

 private:
  void carry_out(const Job& job);
  /// The `index`th entry, rarely one that is a root of watches.
  [[nodiscard]] std::string entry(std::size_t index, bool may_be_root) const;
  [[nodiscard]] std::string directory(std::size_t index) const;

  bool try_write(const std::string& path, bool truncates);
  bool try_make_directory(const std::string& path);
  bool try_remove(const std::string& path);
  bool try_rename(const std::string& from, const std::string& to);
  [[nodiscard]] Moment now() { return {tick(), fermata::now()}; }
  [[nodiscard]] static Moment after(Moment since) { return {since.tick, fermata::now()}; }

  Witness& witness_;
  models::TreeModel tree_;
  std::uint64_t ticks_ = 0;
  Mutex turn_;
  std::vector<Coroutine<>> begun_;
};

}  // namespace fermata::properties
