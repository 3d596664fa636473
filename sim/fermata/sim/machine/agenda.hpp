// SPDX-License-Identifier: Apache-2.0
#pragma once

// What is going to happen to one node, by time.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "fermata/base/assert.hpp"
#include "fermata/base/quad_heap.hpp"
#include "fermata/base/time.hpp"
#include "fermata/sim/tape/decisions.hpp"

namespace fermata::sim::detail {

class Agenda;

/// Something that will happen at a certain time. Lives in whatever it happens to, which cancels it
/// or outlives it.
class Happening {
 public:
  Happening() = default;
  Happening(const Happening&) = delete;
  Happening& operator=(const Happening&) = delete;

  virtual void happen() = 0;

  [[nodiscard]] bool is_scheduled() const noexcept { return agenda_ != nullptr; }
  /// Whether it will happen at `when` at the latest. Who schedules such a one again would put off
  /// what is due.
  [[nodiscard]] bool scheduled_by(Instant when) const noexcept {
    return is_scheduled() && when_ <= when;
  }
  void cancel() noexcept;

 protected:
  ~Happening() { cancel(); }

 private:
  friend class Agenda;

  Agenda* agenda_ = nullptr;
  Instant when_;
  std::uint64_t source_ = 0;
  std::uint32_t index_ = 0;
  bool in_batch_ = false;
};

/// The owner of an agenda.
class AgendaOwner {
 public:
  /// Something else, or nothing, is now the first to happen.
  virtual void earliest_changed() noexcept = 0;

 protected:
  ~AgendaOwner() = default;
};

class Agenda {
 public:
  explicit Agenda(AgendaOwner* owner = nullptr) noexcept : owner_(owner) {}
  Agenda(const Agenda&) = delete;
  Agenda& operator=(const Agenda&) = delete;
  ~Agenda() {
    owner_ = nullptr;
    clear();
  }

  /// Happenings of one `source` keep their order; between sources the order in a batch is free.
  /// REQUIRES: not scheduled anywhere.
  void schedule(Happening& happening, Instant when, std::uint64_t source);

  [[nodiscard]] Instant earliest() const noexcept {
    return heap_.empty() ? Instant::never() : heap_.front().when;
  }

  /// Lets everything happen that is due at `now`; what is scheduled meanwhile waits for the next
  /// time. The order between sources is drawn under `key`; reports say that it is `machine`'s.
  void run_due(Instant now, Decisions& decisions, std::uint64_t key, std::string_view machine);
  /// Lets everything happen that is due at `now`, in order.
  void run_due(Instant now);

  void clear() noexcept;

 private:
  friend class Happening;

  struct Entry {
    [[nodiscard]] bool is_before(const Entry& other) const noexcept {
      return when != other.when ? when < other.when : sequence < other.sequence;
    }
    void moved_to(std::size_t index) const noexcept {
      happening->index_ = static_cast<std::uint32_t>(index);
    }

    Instant when;
    std::uint64_t sequence;
    Happening* happening;
  };

  void remove(Happening& happening) noexcept;
  /// Takes out what is due: returns it when it is alone, else puts all of it into the batch.
  Happening* collect_due(Instant now);
  void find_choices();
  void replace_choice(std::size_t chosen, std::uint64_t source);
  Happening* take(std::size_t at) noexcept;
  void tell_owner() noexcept {
    if (owner_ != nullptr) owner_->earliest_changed();
  }

  AgendaOwner* owner_;
  fermata::detail::QuadHeap<Entry> heap_;
  std::vector<Happening*> batch_;     // In order; null once taken or cancelled.
  std::vector<std::size_t> choices_;  // Positions in the batch that may come next, in order.
  bool batch_cut_ = false;            // Something of the batch was cancelled.
  std::uint64_t next_sequence_ = 0;
};

inline void Happening::cancel() noexcept {
  if (agenda_ != nullptr) agenda_->remove(*this);
  FERMATA_ASSERT(!is_scheduled());
}

}  // namespace fermata::sim::detail
