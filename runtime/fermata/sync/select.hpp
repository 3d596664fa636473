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
//   on_readable    a read would not wait                      nothing
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
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include "fermata/base/inlining.hpp"
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

/// The branches of a parked select with their places, in the order of the call.
template <class... Branches>
class SelectPlaces {
 public:
  explicit SelectPlaces(SelectWait& /*wait*/) noexcept {}
  [[nodiscard]] static std::size_t taken() noexcept { return 0; }
  void fill_due(bool* /*due*/) noexcept {}
};

template <class Branch, class... Rest>
class SelectPlaces<Branch, Rest...> {
 public:
  SelectPlaces(SelectWait& wait, const Branch& branch, const Rest&... rest)
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
  /// Takes what has come for a branch that is due into its part of `taken`.
  template <std::size_t kIndex, class Taken>
  void take(std::size_t chosen, Taken& taken) {
    if constexpr (sizeof...(Rest) > 0) {
      if (chosen > kIndex) return rest_.template take<kIndex + 1>(chosen, taken);
    }
    FERMATA_ASSERT(chosen == kIndex);
    std::get<kIndex>(taken).emplace(branch_.take_from(place_));
  }

 private:
  const Branch& branch_;
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

/// What a branch takes, until its handler runs.
template <class Branch>
using Taken = std::optional<decltype(std::declval<const Branch&>().take_from(
    std::declval<typename Branch::Place&>()))>;

/// Parks until a branch is due, and takes it; says which.
template <class... Branches>
std::size_t take_when_due(const SelectOptions& options, std::tuple<Taken<Branches>...>& taken,
                          const SourcePlace& place, const Branches&... branches) {
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
      places.template take<0>(chosen, taken);
      return chosen;
    }
    wait.park(deadline.remaining(), place);
  }
}

template <class Result, std::size_t kIndex, class Taken, class First, class... Rest>
Result run_taken(std::size_t chosen, Taken& taken, const First& first, const Rest&... rest) {
  if constexpr (sizeof...(Rest) > 0) {
    if (chosen > kIndex) return run_taken<Result, kIndex + 1>(chosen, taken, rest...);
  }
  FERMATA_ASSERT(chosen == kIndex);
  return first.run(std::move(*std::get<kIndex>(taken)));
}

template <class Result, class First, class... Rest>
Result run_now(std::size_t chosen, const First& first, const Rest&... rest) {
  if constexpr (sizeof...(Rest) > 0) {
    if (chosen > 0) return run_now<Result>(chosen - 1, rest...);
  }
  FERMATA_ASSERT(chosen == 0);
  return first.run_now();
}

/// Branches are copied here, so that one that is due at once never stands in memory.
template <class Result, class... Branches>
FERMATA_COLD Result wait_and_run(const SelectOptions& options, Branches... branches) {
  const SourcePlace& place = std::get<0>(std::tie(branches...)).place();
  if (options.order == SelectOrder::Drawn) {
    const std::size_t chosen = choose(std::array{branches.is_due()...}, options.order, place);
    if (chosen < sizeof...(Branches)) return run_now<Result>(chosen, branches...);
  }
  std::tuple<Taken<Branches>...> taken;
  const std::size_t chosen = take_when_due(options, taken, place, branches...);
  return run_taken<Result, 0>(chosen, taken, branches...);
}

/// Runs the first branch that is due now; `otherwise` when none is.
template <class Result, class Otherwise, class First, class... Rest>
FERMATA_HOT Result run_first_due(const Otherwise& otherwise, const First& first,
                                 const Rest&... rest) {
  if (first.is_due()) return first.run_now();
  if constexpr (sizeof...(Rest) > 0) {
    return run_first_due<Result>(otherwise, rest...);
  } else {
    return otherwise();
  }
}

/// What all handlers return.
template <class First, class... Rest>
struct SelectResultOf {
  using Type = decltype(std::declval<const First&>().run_now());
  static_assert((std::is_same_v<Type, decltype(std::declval<const Rest&>().run_now())> && ...),
                "select: expected handlers that all return the same type");
};
template <class... Branches>
using SelectResult = typename SelectResultOf<Branches...>::Type;

}  // namespace detail

/// Waits until a branch is due, takes what it stands for, and returns what its handler returns. May
/// suspend. Throws UsageError on a negative timeout.
template <detail::SelectBranch... Branches>
requires(sizeof...(Branches) > 0) FERMATA_HOT decltype(auto) select(Branches... branches) {
  using Result = detail::SelectResult<Branches...>;
  const auto wait = [&]() -> Result {
    return detail::wait_and_run<Result>(SelectOptions(), branches...);
  };
  return detail::run_first_due<Result>(wait, branches...);
}

template <detail::SelectBranch... Branches>
requires(sizeof...(Branches) > 0) decltype(auto)
    select(const SelectOptions& options, Branches... branches) {
  using Result = detail::SelectResult<Branches...>;
  detail::check_token(WaitOptions{options.timeout, options.token});
  const auto wait = [&]() -> Result { return detail::wait_and_run<Result>(options, branches...); };
  return options.order == SelectOrder::Listed ? detail::run_first_due<Result>(wait, branches...)
                                              : wait();
}

}  // namespace fermata
