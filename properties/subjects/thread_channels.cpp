// SPDX-License-Identifier: Apache-2.0

// A channel between threads: some of its users are coroutines of the main thread, others of threads
// that come and go.

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>

#include "fermata/runtime.hpp"
#include "properties/models/thread_channel_model.hpp"
#include "properties/scripts/law.hpp"
#include "properties/subjects/elsewhere.hpp"

namespace fermata::properties {
namespace {
namespace thread_channels {

enum Operations : std::uint8_t { kSend, kReceive, kTrySend, kTryReceive, kClose };
constexpr std::array kOperations = {12 * "send"_op, 12 * "receive"_op, 3 * "try to send"_op,
                                    3 * "try to receive"_op, 1 * "close"_op};

constexpr std::array<std::size_t, 8> kCapacities = {1, 1, 1, 1, 2, 2, 3, 5};

/// The channel and what is known about it. Threads share it, and may outlive the subject when a run
/// fails.
class Desk {
 public:
  explicit Desk(const Stage& stage)
      : world_(stage.world()),
        channel_(kCapacities[stage.script().shape[0] % kCapacities.size()]),
        model_(channel_.capacity()) {}

  void use(const Step& step, const WaitOptions& options) {
    const int times = 1 + step.number % 4;
    try {
      switch (operation_of(step)) {
        case kSend:
          for (int i = 0; i < times; ++i) send(options);
          return;
        case kReceive:
          for (int i = 0; i < times; ++i) receive(options);
          return;
        case kTrySend:
          return try_send();
        case kTryReceive:
          return try_receive();
        case kClose:
          return step.number < 8 ? close() : void();
      }
    } catch (const ThreadChannelError&) {
    }
  }

  void close() {
    channel_.close();
    model_.close();
  }

  void at_rest() {
    complain(model_.at_rest());
    if (channel_.size() != model_.size()) complain("TC-01 (VAL): it has another size");
    if (channel_.is_closed() != model_.closed()) complain("TC-04 (ERR): is it closed?");
  }

  void take_rest() {
    while (model_.size() > 0) receive({});
  }

 private:
  using Side = models::ThreadChannelModel::Side;

  void complain(const models::Complaint& complaint) {
    if (!complaint.empty()) world_.fail(sim::Verdict::Safety, complaint);
  }

  void send(const WaitOptions& options) {
    const int tag = next_tag_++;
    call(Side::Sender, [&](std::size_t number) {
      channel_.send(tag, options);
      complain(model_.sent(number, tag));
    });
  }
  void receive(const WaitOptions& options) {
    call(Side::Receiver, [&](std::size_t number) {
      const int tag = channel_.recv(options);
      complain(model_.received(number, tag));
    });
  }
  void try_send() {
    const int tag = next_tag_++;
    call(Side::Sender, [&](std::size_t number) {
      const bool taken = channel_.try_send(tag);
      complain(taken ? model_.sent(number, tag) : model_.not_at_once(number));
    });
  }
  void try_receive() {
    call(Side::Receiver, [&](std::size_t number) {
      const std::optional<int> tag = channel_.try_recv();
      complain(tag ? model_.received(number, *tag) : model_.not_at_once(number));
    });
  }

  template <class Operation>
  void call(Side side, Operation operation) {
    const std::size_t number = model_.called(side, [this](std::size_t other) {
      return callers_.at(other)->waker().status == WakerStatus::Waiting;
    });
    const Caller caller(*this, number);
    try {
      operation(number);
    } catch (const ThreadChannelError&) {
      complain(model_.turned_away(number));
      throw;
    } catch (const Timeout&) {
      complain(model_.gave_up(number));
      throw;
    } catch (const OperationCanceled&) {
      complain(model_.gave_up(number));
      throw;
    } catch (...) {
      model_.left(number);
      throw;
    }
  }

  /// The coroutine that is in a call.
  class Caller {
   public:
    Caller(Desk& desk, std::size_t number) : desk_(desk), number_(number) {
      desk_.callers_.emplace(number, &current_coroutine());
    }
    Caller(const Caller&) = delete;
    Caller& operator=(const Caller&) = delete;
    ~Caller() { desk_.callers_.erase(number_); }

   private:
    Desk& desk_;
    std::size_t number_;
  };

  sim::World& world_;
  ThreadChannel<int> channel_;
  models::ThreadChannelModel model_;
  std::map<std::size_t, CoroutineBase*> callers_;  // Of the calls that have not returned.
  int next_tag_ = 0;
};

class ThreadChannels final : public Subject {
 public:
  explicit ThreadChannels(Stage& on) : Subject(on), desk_(std::make_shared<Desk>(on)) {}

  void perform(std::size_t actor, const Step& step) override {
    if ((actor + stage.script().shape[1]) % 3 == 0) {
      return desk_->use(step, stage.patience(step.number));
    }
    elsewhere([desk = desk_, step] { use_in_thread(desk, step); });
  }

  void at_rest() override { desk_->at_rest(); }
  void let_go() override { desk_->close(); }
  void at_end() override {
    desk_->at_rest();
    desk_->take_rest();
  }

 private:
  // Tokens belong to the main thread.
  static void use_in_thread(const std::shared_ptr<Desk>& desk, const Step& step) {
    WaitOptions options;
    if (step.number % 8 >= 5) options.timeout = std::chrono::microseconds(step.number);
    if (step.number % 3 == 0) {
      spawn("companion", [desk, step] {
        try {
          desk->use(step, {});
        } catch (const Cancellation&) {  // When a failure of the other one ends the thread.
        }
      });
    }
    desk->use(step, options);
  }

  std::shared_ptr<Desk> desk_;
};

}  // namespace thread_channels
}  // namespace

constinit const Law kThreadChannels = {
    "thread_channels",
    "what a channel between threads accepts arrives once and in order, and nobody is passed over",
    {"G-03", "TC-01", "TC-02", "TC-03", "TC-04"},
    &scripts_over<thread_channels::ThreadChannels, thread_channels::kOperations>};

}  // namespace fermata::properties
