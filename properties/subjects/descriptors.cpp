// SPDX-License-Identifier: Apache-2.0

// Two ends of a connection that the program itself reads and writes, now and then closed and opened
// anew, under the same numbers, while others still wait for the old ones.

#include <array>
#include <cerrno>
#include <list>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/io/descriptor.hpp"
#include "fermata/runtime.hpp"
#include "properties/scripts/law.hpp"

namespace fermata::properties {
namespace {
namespace descriptors {

constexpr std::size_t kBytesEach = 3000;
constexpr std::size_t kSurelyRoom = 1000;

std::byte byte_at(std::size_t position) { return static_cast<std::byte>(position * 7 % 251); }

class Descriptors final : public Subject {
 public:
  static constexpr auto operations() {
    return std::to_array<Operation>({
        {10, "write", does<&Descriptors::write>},
        {10, "read", does<&Descriptors::read>},
        {10, "wait readable", does<&Descriptors::wait_readable>},
        {6, "wait writable", does<&Descriptors::wait_writable>},
        {1, "shut down writing", does<&Descriptors::shut>},
        {2, "replace", does<&Descriptors::replace>},
    });
  }

  explicit Descriptors(Stage& on) : Subject(on), calls_(descriptor_calls()) { open(); }
  ~Descriptors() override { close(); }

  /// The actor's end, when there is one.
  template <class Use>
  void choose(const Cue& cue, Use use) {
    const std::size_t end = cue.actor % 2;
    if (open_) use(end);
  }

  void at_rest() override {
    for (const Waiter& waiter : waiters_) {
      if (stage.parked(waiter.actor) && is_ready(waiter)) {
        stage.complain("POLL-03, POLL-04 (WAKE): descriptor " + std::to_string(ends_[waiter.end]) +
                       " is " + to_string(waiter.mask) + ", and a waiter sleeps on");
      }
    }
  }

  void let_go() override {
    is_ending = true;
    close();
  }

  void at_end() override {
    if (!waiters_.empty()) stage.complain("POLL-03 (WAKE): somebody waits for what is closed");
  }

 private:
  /// What one end writes and the other one reads.
  struct Way {
    std::size_t sent = 0;
    std::size_t received = 0;
    bool shut = false;
  };
  struct Waiter {
    std::size_t actor;
    std::size_t end;
    PollMask mask;
    std::uint64_t generation;
  };

  void open() {
    const Causes::Beginning beginning = stage.causes().begin();
    try {
      const DescriptorPair pair = calls_.open_pair();
      ends_ = {pair.first, pair.second};
      ways_ = {};
      connection_ = Breakable(beginning);
      open_ = true;
      ++generation_;
    } catch (const InputOutputError& error) {
      const bool no_room =
          error.code() == EMFILE && stage.causes().explain(sim::Fault::OutOfDescriptors, beginning);
      if (!no_room) throw;
    }
  }

  void close() {
    if (!std::exchange(open_, false)) return;
    for (const int end : ends_) calls_.close(end);
  }

  void replace() {
    close();
    open();
  }

  [[nodiscard]] bool is_ready(const Waiter& waiter) const {
    if (!open_ || connection_.is_broken() || waiter.generation != generation_) return true;
    const Way& in = ways_[1 - waiter.end];
    const Way& out = ways_[waiter.end];
    if (in.shut && out.shut) return true;
    if (waiter.mask == PollMask::Readable) return in.shut || in.sent > in.received;
    return out.shut || out.sent - out.received < kSurelyRoom;
  }

  // --- by an actor at its end ---

  void write(const Cue& cue, std::size_t end) {
    const std::size_t size = cue.number * kBytesEach;
    Way& way = ways_[end];
    std::vector<std::byte> bytes(size);
    for (std::size_t i = 0; i < size; ++i) bytes[i] = byte_at(way.sent + i);
    const DescriptorTransfer written = calls_.write(ends_[end], bytes);
    way.sent += written.size;
    check_code(written.code, way.shut ? EPIPE : 0);
    if (written.code == 0 && size > 0 && written.size == 0) {
      stage.complain("POLL (WAKE): a write took nothing, and says nothing");
    }
  }

  void read(const Cue& cue, std::size_t end) {
    const std::size_t size = 1 + cue.number * kBytesEach;
    Way& way = ways_[1 - end];
    std::vector<std::byte> bytes(size);
    const DescriptorTransfer read = calls_.read(ends_[end], bytes);
    for (std::size_t i = 0; i < read.size; ++i) {
      if (bytes[i] != byte_at(way.received + i)) {
        return stage.complain("POLL (ONCE): what was read is not what was written next");
      }
    }
    way.received += read.size;
    if (way.received > way.sent) stage.complain("POLL (ONCE): more is read than was written");
    check_code(read.code, 0);
    const bool ended = way.shut && way.received == way.sent;
    if (read.code == 0 && read.size == 0 && !ended && !connection_.is_broken()) {
      stage.complain("POLL (ONCE): the end is read, and nobody has ended it");
    }
  }

  void check_code(int code, int expected) {
    const bool legal = code == 0 || code == EAGAIN || code == EINTR || code == expected ||
                       (code == ECONNRESET && is_broken()) ||
                       (code == EPIPE && connection_.is_broken());
    if (!legal) stage.complain("POLL (ONCE): an error of nobody: " + std::to_string(code));
  }

  [[nodiscard]] bool is_broken() {
    return connection_.is_broken_by(sim::Fault::Reset, stage.causes());
  }

  void shut(const Cue&, std::size_t end) {
    ways_[end].shut = calls_.shut_down_writing(ends_[end]) == 0;
  }

  void wait_readable(const Cue& cue, std::size_t end) { wait_for(cue, end, PollMask::Readable); }
  void wait_writable(const Cue& cue, std::size_t end) { wait_for(cue, end, PollMask::Writable); }
  void wait_for(const Cue& cue, std::size_t end, PollMask mask) {
    const std::uint64_t watched = generation_;
    const auto me = waiters_.insert(waiters_.end(), {cue.actor, end, mask, watched});
    struct Leave {
      std::list<Waiter>& waiters;
      std::list<Waiter>::iterator me;
      ~Leave() { waiters.erase(me); }
    } const leave{waiters_, me};
    try {
      const PollMask ready = Descriptor(ends_[end]).wait(mask, cue.patience);
      if (!any(ready & (mask | PollMask::Disconnect))) {
        stage.complain("POLL-02 (ONCE): a waiter was told of what it had not asked for");
      }
    } catch (const PollError&) {
      if (watched == generation_) stage.complain("POLL (SHUT): it is open, and cannot be watched");
    }
  }

  backend::DescriptorCalls& calls_;
  std::array<int, 2> ends_{};
  std::array<Way, 2> ways_;  // By who writes.
  std::list<Waiter> waiters_;
  std::uint64_t generation_ = 0;
  Breakable connection_;
  bool open_ = false;
};

}  // namespace descriptors
}  // namespace

constinit const Law kDescriptors = {
    "descriptors",
    "what is written to a descriptor is read once and in order, and whoever waits for it is told",
    {"G-05", "POLL-02", "POLL-03", "POLL-04"},
    &scripts_over<descriptors::Descriptors>};

}  // namespace fermata::properties
