// SPDX-License-Identifier: Apache-2.0
#pragma once

// Waiting for the first of several different things, and taking that one only.
//
//   fermata::select(
//       fermata::on_receive(jobs, [&](std::optional<Job> job) { ... }),
//       fermata::on_end(worker, [&](int result) { ... }),
//       fermata::on_timeout(1s, [&] { ... }));
//
//   branch         due when                                   its handler gets
//   on_receive     the channel has a value, or is closed      the value; nothing when closed
//   on_send        the channel takes the value                nothing
//   on_end         the coroutine or future has ended          its value
//   on_event       the event fires                            nothing
//   on_timeout     the time has passed since the select began nothing
//   on_accept      a connection is there                      the stream; nothing when closed
//   on_join        a task of the set has ended                its TaskResult; nothing when closed
//
// Choice      One that is due at once is taken without suspending. SelectOrder says which, when
//             there are several.
// Nothing lost  A branch that is not chosen takes nothing: its value, connection or result goes to
//             the next who wants it, and a value that was to be sent is still the caller's. So it
//             is when the select is cancelled or times out. Only a cancellation of a send at a
//             rendezvous proves nothing: it may come after the value was taken.
// Fairness    While it waits, a select stands in each line as any other who waits does.
// Handlers    The chosen one runs when the select has left all lines. It may suspend. All return
//             the same type, which select returns.
// Errors      Those of the chosen branch: of what has ended; ChannelError of a channel that closed
//             for another reason than close(). Cancellation, Timeout, OperationCancelled.
// Branches    They refer to what they are made of, and are made in the call itself. A channel of
//             capacity 0 may stand in one branch only: a select does not meet itself.
// Cost        No allocation, but for I/O and for events beyond the room of their vectors.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>

#include "fermata/sync/operation.hpp"
#include "fermata/sync/select_branches.hpp"

namespace fermata {

/// Which of several branches that are due is chosen.
enum class SelectOrder : std::uint8_t {
  Listed,  // the first, in the order of the call: a branch that is always due starves later ones
  Drawn,   // each with the same probability, by random(); nothing is drawn for a single one
};

struct SelectOptions {
  SelectOrder order = SelectOrder::Listed;
  /// The longest time to wait; then Timeout is thrown. Absent: forever. Zero: never suspends.
  std::optional<Duration> timeout;
  /// An event that ends the select with OperationCancelled when it fires.
  Event* token = nullptr;
};

namespace detail {

/// The places of the branches of a parked select, in their order.
template <class... Branches>
class SelectPlaces {
 public:
  explicit SelectPlaces(SelectWait& /*wait*/) noexcept {}
  [[nodiscard]] static std::size_t taken() noexcept { return 0; }
  void fill_due(bool* /*due*/) noexcept {}
  void take(std::size_t /*chosen*/) noexcept {}
};

template <class Branch, class... Rest>
class SelectPlaces<Branch, Rest...> {
 public:
  SelectPlaces(SelectWait& wait, Branch& branch, Rest&... rest)
      : branch_(branch), place_(branch.stand(wait)), rest_(wait, rest...) {}

  /// The branch whose value somebody has taken already, which cannot be undone; the number of
  /// branches when there is none.
  [[nodiscard]] std::size_t taken() const noexcept {
    if constexpr (requires { place_.is_taken(); }) {
      if (place_.is_taken()) return 0;
    }
    return 1 + rest_.taken();
  }
  void fill_due(bool* due) {
    *due = place_.is_due();
    rest_.fill_due(due + 1);
  }
  void take(std::size_t chosen) {
    if (chosen > 0) return rest_.take(chosen - 1);
    branch_.take_from(place_);
  }

 private:
  Branch& branch_;
  typename Branch::Place place_;
  SelectPlaces<Rest...> rest_;
};

/// The branch that `order` chooses among those that are due; `due.size()` when none is.
template <std::size_t kCount>
std::size_t choose(const std::array<bool, kCount>& due, SelectOrder order,
                   const SourcePlace& place) {
  const auto count = static_cast<std::size_t>(std::count(due.begin(), due.end(), true));
  std::size_t left = order == SelectOrder::Drawn && count > 1 ? random(count, place) : 0;
  std::size_t index = 0;
  while (index < kCount && (!due[index] || left-- > 0)) ++index;
  return index;
}

/// Parks until a branch is due, and takes it; says which.
template <class... Branches>
std::size_t take_when_due(const SelectOptions& options, const SourcePlace& place,
                          Branches&... branches) {
  const Deadline deadline(WaitOptions{options.timeout, options.token});
  SelectWait wait;
  SelectPlaces<Branches...> places(wait, branches...);
  std::array<bool, sizeof...(Branches)> due{};
  for (;;) {
    std::size_t chosen = places.taken();
    if (chosen == due.size()) {
      places.fill_due(due.data());
      chosen = choose(due, options.order, place);
    }
    if (chosen < due.size()) {
      places.take(chosen);
      return chosen;
    }
    wait.park(deadline.remaining(), place);
  }
}

/// Takes a branch that is due now, and says which; the number of branches when none is.
template <class... Branches>
std::size_t take_if_due(SelectOrder order, const SourcePlace& place, Branches&... branches) {
  std::size_t index = 0;
  if (order == SelectOrder::Listed) {
    const auto take = [&](auto& branch) {
      const bool due = branch.is_due();
      due ? branch.take() : static_cast<void>(++index);
      return due;
    };
    static_cast<void>((take(branches) || ...));
    return index;
  }
  const std::size_t chosen = choose(std::array{branches.is_due()...}, order, place);
  const auto take_chosen = [&](auto& branch) {
    if (index++ == chosen) branch.take();
  };
  (take_chosen(branches), ...);
  return chosen;
}

template <class Result, class First, class... Rest>
Result run_handler(std::size_t chosen, First& first, Rest&... rest) {
  if constexpr (sizeof...(Rest) > 0) {
    if (chosen > 0) return run_handler<Result>(chosen - 1, rest...);
  }
  FERMATA_ASSERT(chosen == 0);
  return first.run();
}

}  // namespace detail

/// Waits until a branch is due, takes what it stands for, and returns what its handler returns. May
/// suspend. Throws UsageError on a negative timeout.
template <detail::SelectBranch First, detail::SelectBranch... Rest>
decltype(auto) select(const SelectOptions& options, First&& first, Rest&&... rest) {
  using Result = decltype(first.run());
  static_assert((std::is_same_v<Result, decltype(rest.run())> && ...),
                "select: expected handlers that all return the same type");
  detail::check_token(WaitOptions{options.timeout, options.token});
  std::size_t chosen = detail::take_if_due(options.order, first.place(), first, rest...);
  if (chosen > sizeof...(rest)) {
    chosen = detail::take_when_due(options, first.place(), first, rest...);
  }
  return detail::run_handler<Result>(chosen, first, rest...);
}

template <detail::SelectBranch First, detail::SelectBranch... Rest>
decltype(auto) select(First&& first, Rest&&... rest) {
  return select(SelectOptions(), std::forward<First>(first), std::forward<Rest>(rest)...);
}

}  // namespace fermata
