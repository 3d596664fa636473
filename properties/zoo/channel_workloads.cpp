// SPDX-License-Identifier: Apache-2.0

// Channels (Z-CH).

#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "fermata/runtime.hpp"
#include "properties/zoo/scene.hpp"
#include "properties/zoo/workload.hpp"

namespace fermata::properties::zoo {
namespace {

using std::chrono::milliseconds;

/// A channel among coroutines that send or receive once, with a ledger of all values.
class Counter {
 public:
  Counter(sim::World& world, std::size_t capacity) : channel("counter", capacity), world_(world) {}

  Coroutine<> sender(const std::string& name, int value) {
    Coroutine<> coroutine = spawn(name, [this, value] {
      try {
        channel.send(value);
        note_sent(value);
      } catch (const ChannelError&) {
        note_refused(value);
      }
    });
    return crowd_.emplace_back(std::move(coroutine));
  }

  Coroutine<> receiver(const std::string& name) {
    Coroutine<> coroutine = spawn(name, [this] {
      const std::size_t place = arrivals_++;
      line_[place] = &current_coroutine();
      try {
        const int value = channel.recv();
        check_turn(place);
        note_received(value);
      } catch (const ChannelError&) {
      } catch (...) {
        line_.erase(place);
        throw;
      }
      line_.erase(place);
    });
    return crowd_.emplace_back(std::move(coroutine));
  }

  /// `value`, if there is one, has not been taken from a victim that sleeps, and will not be.
  Coroutine<> canceller(const std::string& name, const Coroutine<>& victim, int value = -1) {
    return crowd_.emplace_back(spawn(name, [this, &victim, value] {
      if (sleeps(victim)) note_refused(value);
      victim.cancel();
    }));
  }
  Coroutine<> closer(const std::string& name) {
    return crowd_.emplace_back(spawn(name, [this] { channel.close(); }));
  }

  /// Who came before must have been promised a value, and there must be one for every promise.
  void check_turn(std::size_t place) {
    for (const auto& [other, coroutine] : line_) {
      if (other < place && coroutine->waker().status == backend::WakerStatus::Waiting) {
        complain(world_, "FIFO (CHAN-07): a receiver was served before one that came first");
      }
    }
    std::size_t promised = 0;
    static_cast<void>(std::sscanf(channel.info().c_str(),
                                  "Channel(capacity=%*d, receivers=%*d, senders=%*d, reserved=%zu",
                                  &promised));
    if (promised > channel.count()) {
      complain(world_, "FAIR (CHAN-07): a newcomer took what was promised to another one");
    }
  }

  void note_sent(int value) { sent_.insert(value); }
  void note_refused(int value) {
    refused_.insert(value);
    if (received_.count(value) > 0) {
      complain(world_, "VAL (CHAN-01): a value was received, and its sender told that it was not");
    }
  }
  void note_received(int value) {
    if (!received_.insert(value).second) complain(world_, "VAL (CHAN-01): a value came twice");
    if (refused_.count(value) > 0) {
      complain(world_, "VAL (CHAN-11): a value was refused, and received all the same");
    }
  }

  /// When all is quiet, nobody may sleep beside what it waits for; then everybody goes, and what
  /// was sent has been received or is still there.
  void finish() {
    delay(milliseconds(100));
    int receivers = 0;
    int senders = 0;
    static_cast<void>(std::sscanf(channel.info().c_str(),
                                  "Channel(capacity=%*d, receivers=%d, senders=%d", &receivers,
                                  &senders));
    if (receivers > 0 && !channel.is_empty()) {
      complain(world_, "WAKE (CHAN-08): a receiver sleeps beside a value");
    }
    if (senders > 0 && !channel.is_full()) {
      complain(world_, "WAKE (CHAN-08): a sender sleeps beside a free slot");
    }
    channel.close();
    for (const Coroutine<>& coroutine : crowd_) cancelled_or_done(coroutine);
    try {
      for (;;) note_received(channel.recv());
    } catch (const ChannelError&) {
    }
    for (const int value : sent_) {
      if (received_.count(value) == 0) complain(world_, "VAL (CHAN-01): a value was lost");
    }
  }

  Channel<int> channel;

 private:
  sim::World& world_;
  std::vector<Coroutine<>> crowd_;
  std::size_t arrivals_ = 0;
  std::map<std::size_t, CoroutineBase*> line_;  // Receivers, by arrival.
  std::set<int> sent_, refused_, received_;
};

// The promised receiver is cancelled before it runs.
FERMATA_WORKLOAD(cancelled_receiver, "Z-CH-01", 2, "VAL", "WAKE", "DL+", "CHAN-09", "CHAN-08") {
  Counter counter(world, 1);
  const Coroutine<> first = counter.receiver("first");
  counter.receiver("second");
  counter.canceller("canceller", first);
  counter.sender("sender", 1);
  counter.finish();
}

// The promised sender is cancelled before it runs.
FERMATA_WORKLOAD(cancelled_sender, "Z-CH-02", 2, "WAKE", "DL+", "CHAN-09", "CHAN-08") {
  Counter counter(world, 1);
  counter.channel.send(0);
  counter.note_sent(0);
  const Coroutine<> first = counter.sender("first", 1);
  counter.sender("second", 2);
  counter.canceller("canceller", first);
  counter.receiver("receiver");
  counter.finish();
}

// A newcomer calls between the promise and its receiver.
FERMATA_WORKLOAD(newcomer, "Z-CH-03", 1, "FIFO", "FAIR", "CHAN-07") {
  Counter counter(world, 1);
  counter.receiver("first");
  counter.sender("sender", 1);
  counter.receiver("newcomer");
  counter.finish();
}

// A rendezvous whose sender gives up before anybody came.
FERMATA_WORKLOAD(abandoned_rendezvous, "Z-CH-04", 1, "VAL", "CHAN-11") {
  Counter counter(world, 0);
  const Coroutine<> sender = counter.sender("sender", 1);
  counter.canceller("canceller", sender, 1);
  counter.receiver("receiver");
  counter.finish();
}

// A rendezvous is over, and the channel closes before its sender runs.
FERMATA_WORKLOAD(closed_after_the_rendezvous, "Z-CH-06", 2, "VAL", "ERR", "CHAN-01") {
  Counter counter(world, 0);
  counter.sender("sender", 1);
  counter.closer("closer");
  counter.receiver("receiver");
  counter.finish();
}

// The channel closes before anybody came for the rendezvous.
FERMATA_WORKLOAD(closed_before_the_rendezvous, "Z-CH-07", 2, "VAL", "CHAN-14", "CHAN-01") {
  Counter counter(world, 0);
  counter.sender("sender", 1);
  counter.receiver("receiver");
  counter.closer("closer");
  counter.finish();
}

// Four wait, the first is cancelled, three are served.
FERMATA_WORKLOAD(order_after_a_cancellation, "Z-CH-08", 2, "FIFO") {
  Counter counter(world, 3);
  const Coroutine<> first = counter.receiver("first");
  const auto producer = spawn("producer", [&] {
    for (int value = 1; value < 4; ++value) {
      counter.channel.send(value);
      counter.note_sent(value);
      delay(milliseconds(1));
    }
  });
  for (const char* name : {"second", "third", "fourth"}) counter.receiver(name);
  counter.canceller("canceller", first);
  await(producer);
  counter.finish();
}

// A future that nobody wants any more.
FERMATA_WORKLOAD(dropped_future, "Z-CH-09", 1, "UAF", "VAL", "CHAN-17") {
  Counter counter(world, 0);
  const auto loser = spawn("loser", [&] {
    Future<int> future = counter.channel.recv_async();
    future.ignore();
    suspend();
  });
  await(loser);
  const std::string info = counter.channel.info();
  if (info != "Channel(capacity=0, receivers=0, senders=0, reserved=0/0)") {
    complain(world, "UAF (CHAN-17): a dropped future still stands in line: " + info);
  }
  counter.sender("sender", 1);
  counter.receiver("receiver");
  counter.finish();
}

// One send that does not wait, to a receiver that does.
FERMATA_WORKLOAD(send_without_waiting, "Z-CH-11", 1, "WAKE", "CHAN-08") {
  Counter counter(world, 1);
  counter.receiver("receiver");
  const auto sender = spawn("sender", [&] {
    if (counter.channel.try_send(1)) counter.note_sent(1);
  });
  await(sender);
  counter.finish();
}

// Two wait at a guarded channel; one of them is served before their patience ends.
FERMATA_WORKLOAD(served_in_time, "Z-CH-13", 1, "CHAN-18") {
  constexpr Duration kPatience = std::chrono::milliseconds(20);
  Channel<int> channel("guarded", 0, {.no_producer_timeout = kPatience, .hard_timeouts = true});
  std::vector<Coroutine<>> receivers;
  for (int i = 0; i < 2; ++i) {
    receivers.push_back(spawn("receiver", [&] {
      try {
        static_cast<void>(channel.recv());
      } catch (const ChannelError&) {
      }
    }));
  }
  delay(kPatience / 2);
  const Instant served = now();
  const bool in_time = !channel.is_closed();
  if (in_time) channel.send(0);
  when_all_settled(receivers);
  if (in_time && now() < served + kPatience) {
    complain(world, "ERR (CHAN-18): nobody produces, it is said, and somebody just has");
  }
}

// More can run than the ready queue has had room for, with its head in the middle.
FERMATA_WORKLOAD(burst, "Z-CH-12", 1, "FIFO", "VAL", "ONCE", "CORE-SC-02") {
  std::vector<Coroutine<>> crowd;
  for (int round = 0; round < 4; ++round) {
    for (int i = 0; i < 11; ++i) crowd.push_back(spawn([] { suspend(); }));
    suspend();
  }
  const auto& ready = current_runtime().scheduler().ready();
  const std::uint64_t youngest_before = crowd.emplace_back(spawn([] {}))->id();
  for (int i = 0; i < 300; ++i) {
    crowd.push_back(spawn([] {}));
    std::uint64_t last = youngest_before;
    for (std::size_t at = 0; at < ready.size(); ++at) {
      const std::uint64_t id = ready[at].id();
      if (id <= youngest_before) continue;
      if (id <= last) complain(world, "FIFO (CORE-SC-02): the ready queue has lost its order");
      last = id;
    }
  }
  for (const Coroutine<>& coroutine : crowd) await(coroutine);
}

}  // namespace

}  // namespace fermata::properties::zoo
