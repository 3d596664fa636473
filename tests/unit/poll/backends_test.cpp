// SPDX-License-Identifier: Apache-2.0
#include "fermata/poll/backends.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/os/clock.hpp"
#include "tests/support/events.hpp"

namespace fermata::poll {
namespace {

using namespace std::chrono_literals;

/// A pipe; what is written to it makes it readable.
class Readable {
 public:
  explicit Readable(bool now = true) {
    EXPECT_EQ(::pipe2(ends_.data(), O_NONBLOCK | O_CLOEXEC), 0);
    const ssize_t written = now ? 1 : 0;
    EXPECT_EQ(::write(ends_[1], "x", now ? 1 : 0), written);
  }
  Readable(Readable&& other) noexcept : ends_(std::exchange(other.ends_, {-1, -1})) {}
  Readable& operator=(Readable&&) = delete;
  ~Readable() {
    close();
    if (ends_[1] >= 0) ::close(ends_[1]);
  }

  [[nodiscard]] int descriptor() const { return ends_[0]; }
  void empty() const {
    char byte = 0;
    EXPECT_EQ(::read(ends_[0], &byte, 1), 1);
  }
  void close() {
    if (ends_[0] >= 0) ::close(std::exchange(ends_[0], -1));
  }

 private:
  std::array<int, 2> ends_{};
};

/// Notes what it is told.
class Notes final : public Sink {
 public:
  void ready(int descriptor, PollMask mask) noexcept override {
    told.emplace_back(descriptor, mask);
    if (then) then(descriptor);
  }

  std::vector<std::pair<int, PollMask>> told;
  std::function<void(int)> then;
};

using Told = std::vector<std::pair<int, PollMask>>;

class Backends : public ::testing::TestWithParam<BackendKind> {
 protected:
  /// What a look without waiting tells.
  Told look() {
    notes_.told.clear();
    backend_->wait(Instant{}, notes_);
    return notes_.told;
  }

  std::unique_ptr<Backend> backend_ = make_backend(GetParam());
  Notes notes_;
};

INSTANTIATE_TEST_SUITE_P(Each, Backends, ::testing::ValuesIn(available_backends()),
                         [](const auto& kind) { return std::string(to_string(kind.param)); });

TEST_P(Backends, SayWhatTheyAre) {
  const BackendKind kind = GetParam();
  EXPECT_EQ(backend_->name(), to_string(kind));
  const Capabilities capabilities = backend_->capabilities();
  const auto both = PollMask::Readable | PollMask::Writable;
  EXPECT_EQ(capabilities.kinds & both, both);
  EXPECT_EQ(capabilities.descriptor_limit, kind == BackendKind::Pselect ? 1024 : 0);
  EXPECT_FALSE(capabilities.hosted);
  const bool is_library = kind == BackendKind::Ev || kind == BackendKind::Event;
  EXPECT_EQ(backend_->native_handle() != nullptr, is_library);
  EXPECT_NE(capabilities.foreign_descriptors, is_library);
}

TEST_P(Backends, TellWhatIsReadyAsLongAsItIs) {
  const Readable ready;
  const Readable idle(false);
  backend_->watch(ready.descriptor(), PollMask::Readable);
  backend_->watch(idle.descriptor(), PollMask::Readable);
  const Told once = {{ready.descriptor(), PollMask::Readable}};
  EXPECT_EQ(look(), once);
  EXPECT_EQ(look(), once);
  ready.empty();
  EXPECT_EQ(look(), Told{});
}

TEST_P(Backends, WatchForTheLastMaskAlone) {
  const int event = ::eventfd(1, EFD_NONBLOCK | EFD_CLOEXEC);
  const auto both = PollMask::Readable | PollMask::Writable;
  backend_->watch(event, PollMask::Readable);
  EXPECT_EQ(look(), (Told{{event, PollMask::Readable}}));
  backend_->watch(event, both);
  EXPECT_EQ(look(), (Told{{event, both}}));
  backend_->watch(event, PollMask::Writable);
  EXPECT_EQ(look(), (Told{{event, PollMask::Writable}}));
  backend_->unwatch(event);
  backend_->unwatch(event);
  EXPECT_EQ(look(), Told{});
  backend_->watch(event, PollMask::Readable);
  EXPECT_EQ(look(), (Told{{event, PollMask::Readable}}));
  backend_->unwatch(event);
  ::close(event);
}

TEST_P(Backends, UnwatchWhatTheyNeverWatched) {
  backend_->unwatch(0);
  backend_->unwatch(5000);
  EXPECT_EQ(look(), Told{});
}

TEST_P(Backends, DoNotTellWhatIsUnwatchedMeanwhile) {
  const Readable one;
  const Readable other;
  for (const Readable* each : {&one, &other})
    backend_->watch(each->descriptor(), PollMask::Readable);
  notes_.then = [&](int told) {
    backend_->unwatch(told == one.descriptor() ? other.descriptor() : one.descriptor());
  };
  EXPECT_EQ(look().size(), 1u);
}

TEST_P(Backends, DoNotTellANumberThatIsWatchedAnewOfWhatTheOldFileHad) {
  Readable one;
  Readable other;
  const std::array<int, 2> numbers = {one.descriptor(), other.descriptor()};
  for (const int number : numbers) backend_->watch(number, PollMask::Readable);
  std::optional<Readable> next;
  notes_.then = [&](int told) {
    if (next) return;
    Readable& untold = told == numbers[0] ? other : one;
    const int number = untold.descriptor();
    backend_->unwatch(number);
    untold.close();
    next.emplace(false);
    ASSERT_EQ(next->descriptor(), number);
    backend_->watch(number, PollMask::Readable);
  };
  EXPECT_EQ(look().size(), 1u);
}

TEST_P(Backends, MayWatchOthersMeanwhile) {
  const Readable one;
  const Readable late;
  backend_->watch(one.descriptor(), PollMask::Readable);
  notes_.then = [&](int) { backend_->watch(late.descriptor(), PollMask::Readable); };
  const Told first = look();
  EXPECT_EQ(std::count(first.begin(), first.end(), std::pair{one.descriptor(), PollMask::Readable}),
            1);
  notes_.then = nullptr;
  EXPECT_EQ(look().size(), 2u);
}

TEST_P(Backends, TellEachOfMany) {
  std::vector<Readable> many(200);
  for (const Readable& each : many) backend_->watch(each.descriptor(), PollMask::Readable);
  std::vector<int> seen;
  notes_.then = [&](int told) {
    seen.push_back(told);
    backend_->unwatch(told);
  };
  while (!look().empty()) {
  }
  std::vector<int> all;
  for (const Readable& each : many) all.push_back(each.descriptor());
  std::sort(seen.begin(), seen.end());
  std::sort(all.begin(), all.end());
  EXPECT_EQ(seen, all);
}

TEST_P(Backends, WaitUntilTheInstantIsOver) {
  const Readable idle(false);
  backend_->watch(idle.descriptor(), PollMask::Readable);
  const Instant wake_by = os::now() + 5ms;
  int waits = 0;
  for (; os::now() < wake_by; ++waits) backend_->wait(wake_by, notes_);
  EXPECT_LE(waits, 5);
  EXPECT_TRUE(notes_.told.empty());
}

TEST_P(Backends, OutliveADescriptorThatIsClosedBehindTheirBack) {
  if (!backend_->capabilities().foreign_descriptors) return;  // It is never given such a one.
  Readable gone;
  const Readable well;
  const int number = gone.descriptor();
  backend_->watch(number, PollMask::Readable);
  backend_->watch(well.descriptor(), PollMask::Readable);
  look();
  gone.close();
  bool well_told = false;
  for (int i = 0; i < 3; ++i) {
    for (const auto& [descriptor, mask] : look()) well_told |= descriptor == well.descriptor();
  }
  EXPECT_TRUE(well_told);
  backend_->unwatch(number);

  const Readable next;
  ASSERT_EQ(next.descriptor(), number);
  backend_->watch(number, PollMask::Readable);
  const Told told = look();
  EXPECT_EQ(std::count(told.begin(), told.end(), std::pair{number, PollMask::Readable}), 1);
  backend_->unwatch(number);
}

TEST_P(Backends, OutliveADescriptorWhoseDuplicateGoesOn) {
  if (!backend_->capabilities().foreign_descriptors) return;  // It is never given such a one.
  Readable gone;
  const int number = gone.descriptor();
  const int duplicate = ::dup(number);
  backend_->watch(number, PollMask::Readable);
  gone.close();
  backend_->unwatch(number);
  for (int i = 0; i < 3; ++i) look();
  EXPECT_EQ(look(), Told{});
  ::close(duplicate);
}

TEST_P(Backends, WatchADescriptorThatComesBack) {
  if (!backend_->capabilities().foreign_descriptors) return;  // It is never given such a one.
  Readable ready;
  const int number = ready.descriptor();
  const int duplicate = ::dup(number);
  backend_->watch(number, PollMask::Readable);
  ready.close();
  backend_->unwatch(number);
  ASSERT_EQ(::dup3(duplicate, number, O_CLOEXEC), number);
  backend_->watch(number, PollMask::Readable);
  EXPECT_EQ(look(), (Told{{number, PollMask::Readable}}));
  backend_->unwatch(number);
  EXPECT_EQ(look(), Told{});
  ::close(duplicate);
  ::close(number);
}

TEST_P(Backends, NameADescriptorBeyondTheirLimit) {
  const Readable ready;
  const int high = ::fcntl(ready.descriptor(), F_DUPFD_CLOEXEC, 1500);
  if (high < 0) GTEST_SKIP() << "the system has no descriptors above 1500 for this process";
  const std::string error = test::thrown_by([&] { backend_->watch(high, PollMask::Readable); });
  if (backend_->capabilities().descriptor_limit == 0) {
    EXPECT_EQ(error, "");
    EXPECT_EQ(look(), (Told{{high, PollMask::Readable}}));
  } else {
    EXPECT_EQ(error, "fermata::PollError: watch descriptor " + std::to_string(high) +
                         ": expected a number below 1024, the limit of pselect");
    EXPECT_EQ(look(), Told{});
  }
  backend_->unwatch(high);
  ::close(high);
}

TEST(AvailableBackends, AreInTheOrderOfTheirKinds) {
  const auto kinds = available_backends();
  EXPECT_TRUE(std::is_sorted(kinds.begin(), kinds.end()));
  EXPECT_GE(kinds.size(), 3u);
}

TEST(AvailableBackends, NameTheLibraryThatIsMissing) {
  for (const auto kind : {BackendKind::Ev, BackendKind::Event}) {
    const auto kinds = available_backends();
    if (std::find(kinds.begin(), kinds.end(), kind) != kinds.end()) continue;
    const std::string name(to_string(kind));
    EXPECT_EQ(test::thrown_by([&] { (void)make_backend(kind); }),
              "fermata::Unsupported: reactor '" + name + "' has no part 'lib" + name + "'");
  }
}

}  // namespace
}  // namespace fermata::poll
