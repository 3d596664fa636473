// SPDX-License-Identifier: Apache-2.0

// A channel between threads: some of its users are coroutines of the main thread, others of threads
// that come and go.

#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>

#include "fermata/io/thread_channel.hpp"
#include "fermata/runtime.hpp"
#include "properties/models/thread_channel_model.hpp"
#include "properties/scripts/law.hpp"
#include "properties/subjects/elsewhere.hpp"

namespace fermata::properties {
namespace {
namespace thread_channels {

constexpr std::array<std::size_t, 8> kCapacities = {1, 1, 1, 1, 2, 2, 3, 5};

/// The channel and what is known about it. Threads share it, and may outlive the subject when a run
/// fails.
class Desk {
  using Side = models::ThreadChannelModel::Side;

 public:
  explicit Desk(const Stage& stage)
      : world_(stage.world()),
        channel_(kCapacities[stage.script().shape[0] % kCapacities.size()]),
        model_(channel_.capacity()) {}

  void send_some(const Cue& cue) {
    for (int i = 0; i < 1 + cue.number % 4; ++i) send(cue.patience);
  }
  void receive_some(const Cue& cue) {
    for (int i = 0; i < 1 + cue.number % 4; ++i) receive(cue.patience);
  }
  void try_send(const Cue&) {
    const int tag = next_tag_++;
    call(Side::Sender, [&](std::size_t number) {
      const bool taken = channel_.try_send(tag);
      complain(taken ? model_.sent(number, tag) : model_.not_at_once(number));
    });
  }
  void try_receive(const Cue&) {
    call(Side::Receiver, [&](std::size_t number) {
      const std::optional<int> tag = channel_.try_recv();
      complain(tag ? model_.received(number, *tag) : model_.not_at_once(number));
    });
  }

  void close_early(const Cue& cue) {
    if (cue.number < 8) close();
  }
  void close() {
    channel_.close();
    model_.close();
  }

  void at_rest() {
    complain(model_.at_rest());
    if (channel_.size() != model_.size()) complain("TC-01 (VAL): it has another size");
    if (channel_.is_closed() != model_.is_closed()) complain("TC-04 (ERR): is it closed?");
  }

  void take_rest() {
    while (model_.size() > 0) receive({});
  }

 private:
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

  template <class Use>
  void call(Side side, Use use) {
    const std::size_t number = model_.called(side, [this](std::size_t other) {
      return callers_.at(other)->waker().status == backend::WakerStatus::Waiting;
    });
    const Caller caller(*this, number);
    try {
      use(number);
    } catch (const ThreadChannelError&) {
      complain(model_.turned_away(number));
      throw;
    } catch (const Timeout&) {
      complain(model_.gave_up(number));
      throw;
    } catch (const OperationCancelled&) {
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
  static constexpr auto operations() {
    return std::to_array<Operation>({
        {12, "send", does<&ThreadChannels::somewhere<&Desk::send_some>>},
        {12, "receive", does<&ThreadChannels::somewhere<&Desk::receive_some>>},
        {3, "try to send", does<&ThreadChannels::somewhere<&Desk::try_send>>},
        {3, "try to receive", does<&ThreadChannels::somewhere<&Desk::try_receive>>},
        {1, "close", does<&ThreadChannels::somewhere<&Desk::close_early>>},
    });
  }

  explicit ThreadChannels(Stage& on) : Subject(on), desk_(std::make_shared<Desk>(on)) {}

  void at_rest() override { desk_->at_rest(); }
  void let_go() override { desk_->close(); }
  void at_end() override {
    desk_->at_rest();
    desk_->take_rest();
  }

 private:
  /// Here, or in a thread and perhaps in a companion there; tokens belong to the main thread.
  template <auto use>
  void somewhere(const Cue& cue) {
    if ((cue.actor + stage.script().shape[1]) % 3 == 0) return call<use>(*desk_, cue);
    const Cue patient{cue.actor, cue.number, {}};
    Cue there = patient;
    if (cue.number % 8 >= 5) there.patience.timeout = std::chrono::microseconds(cue.number);
    elsewhere([desk = desk_, patient, there] {
      if (there.number % 3 == 0) {
        spawn("companion", [desk, patient] {
          try {
            call<use>(*desk, patient);
          } catch (const Cancellation&) {  // When a failure of the other one ends the thread.
          }
        });
      }
      call<use>(*desk, there);
    });
  }

  template <auto use>
  static void call(Desk& desk, const Cue& cue) {
    try {
      (desk.*use)(cue);
    } catch (const ThreadChannelError&) {
    }
  }

  std::shared_ptr<Desk> desk_;
};

}  // namespace thread_channels
}  // namespace

constinit const Law kThreadChannels = {
    "thread_channels",
    "what a channel between threads accepts arrives once and in order, and nobody is passed over",
    {"G-03", "TC-01", "TC-02", "TC-03", "TC-04"},
    &scripts_over<thread_channels::ThreadChannels>};

}  // namespace fermata::properties
