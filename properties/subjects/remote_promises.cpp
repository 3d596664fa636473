// SPDX-License-Identifier: Apache-2.0

// Promises that other threads keep, while whoever reads them leaves: is cancelled, waits no longer,
// cancels the future, or lets go of it.

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "fermata/io/remote_promise.hpp"
#include "fermata/io/thread.hpp"
#include "fermata/runtime.hpp"
#include "properties/scripts/law.hpp"

namespace fermata::properties {
namespace {
namespace remote_promises {

using std::chrono::microseconds;

enum class Deed : std::uint8_t { Complete, Fail, Drop };

/// What both sides know of one promise. Simulated threads take turns.
struct Sent {
  Deed deed;
  std::uint32_t number;
  bool observed = false;  // Somebody has waited for it.
  bool asked = false;     // The reader begins to tell that it is not wanted any more,
  bool told = false;      // and has told it.
  bool done = false;      // The thread has done its deed.
  int values = 0;         // That have not been destroyed.
};

/// What is sent; there is one of it, and it goes with the last handle of its future.
class Value {
 public:
  explicit Value(std::shared_ptr<Sent> sent) : sent_(std::move(sent)) { ++sent_->values; }
  Value(Value&&) noexcept = default;
  Value& operator=(Value&&) = delete;
  ~Value() {
    if (sent_) --sent_->values;
  }
  [[nodiscard]] bool is_of(const Sent& sent) const { return sent_.get() == &sent; }

 private:
  std::shared_ptr<Sent> sent_;
};

/// The reader's side; whoever waits shares it.
class Letter {
 public:
  Letter(Future<Value> of, std::shared_ptr<Sent> what)
      : future(std::move(of)), sent(std::move(what)) {}
  Letter(const Letter&) = delete;
  ~Letter() {
    const bool unwanted = sent->observed && !future->is_completed();
    sent->asked = sent->asked || unwanted;
    future.reset();
    sent->told = sent->told || unwanted;
  }

  void cancel() {
    const bool unwanted = !future->is_completed();
    sent->asked = sent->asked || unwanted;
    future->cancel();
    sent->told = sent->told || unwanted;
  }

  std::optional<Future<Value>> future;
  std::shared_ptr<Sent> sent;
};

class RemotePromises final : public Subject {
 public:
  static constexpr auto operations() {
    return std::to_array<Operation>({
        {10, "send", does<&RemotePromises::send>},
        {10, "await", does<&RemotePromises::await_value>},
        {3, "cancel", does<&RemotePromises::cancel>},
        {3, "let go", does<&RemotePromises::drop>},
    });
  }

  explicit RemotePromises(Stage& on) : Subject(on) {}

  /// The place of a letter that is still held, if there is any.
  template <class Use>
  void choose(const Cue& cue, Use use) {
    if (letters_.empty()) return;
    const std::size_t index = (cue.actor + cue.number) % letters_.size();
    use(index);
  }

  void at_rest() override {
    for (const Thread<>& thread : threads_) {
      if (!thread.is_completed()) stage.complain("FUT-16 (WAKE): a sender has not ended");
      if (thread.error()) stage.complain("FUT-16 (ERR): a sender could not keep its promise");
    }
    for (const auto& letter : letters_) {
      // One that was dropped breaks for whoever waits, and for nobody else.
      if (letter->sent->deed != Deed::Drop && !letter->future->is_completed()) {
        stage.complain("FUT-16 (WAKE): a promise was kept, and its future does not know");
      }
    }
    for (std::size_t actor = 0; actor < stage.actor_count(); ++actor) {
      if (stage.parked(actor))
        stage.complain("FUT-16 (WAKE): somebody waits on" + stage.where(actor));
    }
  }

  void at_end() override {
    letters_.clear();
    for (const auto& sent : sent_) {
      if (sent->values != 0) stage.complain("FUT-16 (REF): a value has outlived its future");
    }
  }

 private:
  void send(const Cue& cue) {
    constexpr std::array kDeeds = {Deed::Complete, Deed::Complete, Deed::Fail, Deed::Drop};
    const auto sent = std::make_shared<Sent>(
        Sent{.deed = kDeeds[cue.number % kDeeds.size()], .number = ++numbers_});
    Promise<Value> promise;
    letters_.push_back(std::make_shared<Letter>(promise.future(), sent));
    sent_.push_back(sent);
    threads_.push_back(spawn_thread(
        [this, sent, late = cue.number / 4 * 3,
         remote = RemotePromise(std::move(promise))]() mutable {
          if (late > 0) delay(microseconds(late));
          keep(std::move(remote), sent);
        },
        {.name = "sender"}));
  }

  /// In the thread.
  void keep(RemotePromise<Value> remote, const std::shared_ptr<Sent>& sent) {
    const bool told = sent->told;
    const bool requested = remote.is_cancellation_requested();
    if (told && !requested) stage.complain("FUT-16 (CANC): the sender was not told to stop");
    if (requested && !sent->asked) stage.complain("FUT-17 (CANC): nobody told the sender to stop");
    sent->done = true;
    switch (sent->deed) {
      case Deed::Complete:
        return remote.complete(Value(sent));
      case Deed::Fail:
        return remote.fail(std::make_exception_ptr(PlannedError(sent->number)));
      case Deed::Drop:
        return;
    }
  }

  void await_value(const Cue& cue, std::size_t index) {
    const auto letter = letters_[index];
    Sent& sent = *letter->sent;
    sent.observed = true;
    const Due due = letter->future->is_completed() ? Due::Kept : Due::Later;
    try {
      call(
          cue, due,
          [&] { expect(sent, Deed::Complete, await(*letter->future, cue.patience).is_of(sent)); },
          [](const Ending&) {});
    } catch (const PlannedError& error) {
      expect(sent, Deed::Fail, error.number == sent.number);
    } catch (const BrokenPromise&) {
      expect(sent, Deed::Drop, true);
    } catch (const AwaitedCancelled& awaited) {
      if (letter->future->error() != awaited.previous()) {
        stage.complain("FUT-16 (CANC): the cancellation is not the future's");
      }
      if (!sent.asked) stage.complain("FUT-16 (CANC): nobody has cancelled the future");
    }
  }

  void expect(const Sent& sent, Deed deed, bool same) {
    if (!sent.done || sent.deed != deed || !same) {
      stage.complain("FUT-16 (VAL): what was read is not what was sent");
    }
  }

  void cancel(const Cue&, std::size_t index) {
    const auto letter = letters_[index];
    letter->cancel();
  }

  void drop(const Cue&, std::size_t index) {
    const auto letter = letters_[index];  // Others may run while it goes.
    letters_.erase(letters_.begin() + static_cast<std::ptrdiff_t>(index));
  }

  std::vector<std::shared_ptr<Letter>> letters_;
  std::vector<std::shared_ptr<Sent>> sent_;
  std::vector<Thread<>> threads_;
  std::uint32_t numbers_ = 0;
};

}  // namespace remote_promises
}  // namespace

constinit const Law kRemotePromises = {
    "remote_promises",
    "a promise that another thread keeps is kept once, whatever its reader does meanwhile",
    {"FUT-16", "FUT-17"},
    &scripts_over<remote_promises::RemotePromises>};

}  // namespace fermata::properties
