// SPDX-License-Identifier: Apache-2.0
//
// Section I of the list, and X36 of the additions: memory, handles, drivers.

#include <malloc.h>

#include <cstdlib>

#include "fermata/core/runtime.hpp"
#include "fermata/drivers/factory.hpp"
#include "tests/conformance/loop_case.hpp"

namespace fermata::conformance {
namespace {

class LoopResources : public LoopCase {};
INSTANTIATE_TEST_SUITE_P(Arms, LoopResources, every_arm(), arm_name);

class LoopMemory : public LoopCase {};
INSTANTIATE_TEST_SUITE_P(Arms, LoopMemory, canonical_arms(), arm_name);

/// Bytes that are allocated.
std::size_t allocated() { return ::mallinfo2().uordblks; }

constexpr int kRounds = 2000;

void create_and_cancel(LoopArm& arm, const StreamPair& pair, CallbackKind kind, bool disable) {
  Loop& loop = arm.loop();
  const CallbackId id = add_on(loop, pair.near, kind, [](CallbackId) {});
  if (disable) loop.disable(id);
  loop.cancel(id);
}

/// `count` callbacks, each registered by the one before when `chained`, else all at once.
void create_and_run(LoopArm& arm, const StreamPair& pair, CallbackKind kind, int count,
                    bool chained) {
  Loop& loop = arm.loop();
  int left = count;
  const std::function<void()> raise_again = [&] {
    if (kind == CallbackKind::Signal) arm.raise(kSignal);
  };
  std::function<void(CallbackId)> each = [&](CallbackId id) {
    loop.cancel(id);
    if (--left == 0 || !chained) return;
    add_on(loop, pair.near, kind, [&each](CallbackId next) { each(next); });
    loop.defer(raise_again);
  };
  for (int index = 0; index < (chained ? 1 : count); ++index) {
    add_on(loop, pair.near, kind, [&each](CallbackId id) { each(id); });
  }
  loop.defer([&] { loop.defer(raise_again); });
  arm.drive();
  EXPECT_EQ(left, 0);
}

// The second round must not need more than the first one has left behind.
LOOP_CASE(LoopMemory, CallbacksThatComeAndGoLeaveNoMemoryBehind) {
  const StreamPair pair = arm.stream_pair();
  arm.write(pair.far, "x");
  for (const CallbackKind kind : kEveryKind) {
    SCOPED_TRACE(to_string(kind));
    const auto use_all = [&] {
      for (int round = 0; round < kRounds; ++round) create_and_cancel(arm, pair, kind, false);
      for (int round = 0; round < kRounds; ++round) create_and_cancel(arm, pair, kind, true);
      arm.drive();
      create_and_run(arm, pair, kind, kRounds, false);
      create_and_run(arm, pair, kind,
                     arm.is_exact() || kind == CallbackKind::Defer ? kRounds : kRounds / 10, true);
    };
    use_all();
    const std::size_t before = allocated();
    use_all();
    EXPECT_LE(allocated(), before + 4096);
    EXPECT_TRUE(loop.identifiers().empty());
  }
}

LOOP_CASE(LoopResources, TheDriverGivesItsNativeHandleIfItHasOne) {
  backend::Reactor& reactor = loop.runtime().reactor();
  bool has_handle = false;
  for (const loop::Driver& driver : loop::drivers()) {
    has_handle = has_handle || driver.native_handle(reactor) != nullptr;
  }
  EXPECT_EQ(has_handle, GetParam().has_native_handle);
}

TEST_P(LoopResources, ADriverSaysWhatItCanDo) {
  const std::string_view name = GetParam().driver;
  EXPECT_EQ(loop::supports(name), !name.empty());
  if (name.empty()) return;
  EXPECT_EQ(loop::driver(name).name, name);
  EXPECT_EQ(loop::driver(name).capabilities.every_part, name == "uv");
  EXPECT_EQ(loop::driver(name).capabilities.descriptor_limit > 0, GetParam().is_select);
}

/// The variable has a value, or none, for as long as this lives.
class Variable {
 public:
  explicit Variable(const char* value) {
    if (const char* before = std::getenv(kName)) before_ = before;
    set(value);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() { set(before_.empty() ? nullptr : before_.c_str()); }

 private:
  static constexpr const char* kName = "FERMATA_LOOP";
  static void set(const char* value) {
    if (value == nullptr) {
      ::unsetenv(kName);
    } else {
      ::setenv(kName, value, 1);
    }
  }
  std::string before_;
};

/// A loop calls back on the driver that the factory gives now.
void calls_back(std::unique_ptr<backend::Reactor> reactor) {
  int calls = 0;
  Runtime runtime(std::move(reactor), {.handle_stop_signals = false});
  runtime.run([&] {
    Loop loop;
    loop.delay(1ms, [&] { ++calls; });
    loop.run();
  });
  EXPECT_EQ(calls, 1);
}

TEST_P(LoopResources, TheFactoryMakesADriverThatCallsBack) {
  const std::string driver(GetParam().driver);
  const Variable variable(nullptr);
  calls_back(driver.empty() ? loop::make_reactor() : loop::make_reactor(driver));
}

std::vector<loop::Driver> named(std::initializer_list<std::string_view> names) {
  std::vector<loop::Driver> found;
  for (const std::string_view name : names) {
    found.push_back({.name = name, .on_request_only = name == "pselect"});
  }
  return found;
}

TEST_P(LoopResources, TheFactoryPrefersUvEvEventSelectUnlessItIsTold) {
  using loop::detail::choose;
  EXPECT_EQ(choose(named({"uv", "ev", "event", "select"}), nullptr).name, "uv");
  EXPECT_EQ(choose(named({"ev", "event", "select"}), nullptr).name, "ev");
  EXPECT_EQ(choose(named({"event", "select", "pselect"}), "").name, "event");
  EXPECT_EQ(choose(named({"pselect", "select"}), nullptr).name, "select");
  EXPECT_EQ(choose(named({"uv", "pselect"}), "pselect").name, "pselect");
  EXPECT_THROW((void)choose(named({"pselect"}), nullptr), UsageError);

  std::vector<std::string_view> order = {"uv", "ev", "event", "select"};
  std::erase_if(order, [](std::string_view name) { return !loop::supports(name); });
  const auto built = loop::drivers();
  ASSERT_GE(built.size(), order.size());
  for (std::size_t index = 0; index < order.size(); ++index) {
    EXPECT_EQ(built[index].name, order[index]);
  }

  const Variable none(nullptr);
  EXPECT_EQ(loop::choose_driver().name, order.front());
  if (!GetParam().driver.empty()) {
    const Variable told(std::string(GetParam().driver).c_str());
    EXPECT_EQ(loop::choose_driver().name, GetParam().driver);
  }
  for (const char* unknown : {"kqueue", "UV", "simulated"}) {
    const Variable told(unknown);
    const std::string text = text_of<UsageError>([] { (void)loop::choose_driver(); });
    EXPECT_NE(text.find("FERMATA_LOOP: '" + std::string(unknown) + "'"), std::string::npos) << text;
    for (const loop::Driver& driver : built) {
      EXPECT_NE(text.find(driver.name), std::string::npos) << text;
    }
  }
}

}  // namespace
}  // namespace fermata::conformance
