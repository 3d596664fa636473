// SPDX-License-Identifier: Apache-2.0

// What subscribers of the reactor's events throw ends the run as an unhandled error, and stops
// nothing else of the turn; and what each event is called in a report.

#include <gtest/gtest.h>

#include <csignal>
#include <regex>
#include <stdexcept>
#include <string>
#include <vector>

#include "fermata/base/function_ref.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/core/timer.hpp"
#include "fermata/io/offload.hpp"
#include "fermata/io/signal.hpp"
#include "fermata/io/tcp.hpp"
#include "fermata/io/trigger.hpp"
#include "tests/conformance/arms.hpp"
#include "tests/conformance/main_typed_test.hpp"
#include "tests/support/checks.hpp"

namespace fermata::conformance {
namespace {

using namespace std::chrono_literals;

/// Subscribes somebody who throws "boom" and somebody behind, who must be told all the same.
class Bomb {
 public:
  explicit Bomb(Event& event)
      : first_(subscribe(event, [](Event&, const Outcome&) { throw std::runtime_error("boom"); })),
        second_(subscribe(event, [](Event&, const Outcome&) { ++told; })) {
    told = 0;
  }

  static inline int told = 0;

 private:
  Subscription first_;
  Subscription second_;
};

template <class Arm>
class CallbackErrors : public ::testing::Test {
 protected:
  static void expect_boom(detail::FunctionRef<void()> body) {
    EXPECT_NE(Arm::error_of(body).find("boom"), std::string::npos);
    EXPECT_EQ(Bomb::told, 1);
  }
};
TYPED_TEST_SUITE(CallbackErrors, PollableArms);

TYPED_TEST(CallbackErrors, OfATrigger) {
  FERMATA_CHECKS("CORE-CB-09");
  this->expect_boom([] {
    const auto trigger = current_runtime().reactor().triggers().make();
    const Bomb bomb(*trigger);
    trigger->start();
    trigger->fire();
    delay(5ms);
  });
}

TYPED_TEST(CallbackErrors, OfASignal) {
  this->expect_boom([] {
    backend::SignalEvent event(current_runtime().reactor().signals(), SIGUSR1);
    const Bomb bomb(event);
    event.start();
    TypeParam::raise(SIGUSR1);
    delay(5ms);
  });
}

TYPED_TEST(CallbackErrors, OfATask) {
  this->expect_boom([] {
    const auto work = [] {};
    using Work = detail::TaskOf<decltype(work), void>;
    const auto task = Ref<Work>::adopt(*new Work(current_runtime().reactor().offload(), work));
    const Bomb bomb(*task);
    task->start();
    delay(20ms);
  });
}

TYPED_TEST(CallbackErrors, OfARequest) {
  this->expect_boom([] {
    const auto listener = TcpListener::bind({"127.0.0.1", 0});
    backend::ConnectRequest request(current_runtime().reactor().streams(),
                                    listener.local_address());
    const Bomb bomb(request);
    delay(20ms);
  });
}

/// `info` with every number behind a # as N: serials differ between reactors.
std::string without_serial(const std::string& info) {
  return std::regex_replace(info, std::regex("#[0-9]+"), "#N");
}

/// What `act` waits for, as a dump shows it meanwhile.
std::string shown_while(detail::FunctionRef<void()> act) {
  const auto waiter = spawn("waiter", act);
  suspend();
  const std::vector<std::string> events = waiter->awaiting();
  waiter.cancel();
  return events.size() == 1 ? without_serial(events.front()) : "not one thing";
}

template <class Arm>
class NamesOfWaits : public ::testing::Test {};
TYPED_TEST_SUITE(NamesOfWaits, Arms);

MAIN_TYPED_TEST(NamesOfWaits, SayWhatIsWaitedFor) {
  EXPECT_EQ(shown_while([] { wait_signal(SIGUSR1); }), "Signal #N (signal=10)");
  EXPECT_EQ(shown_while([] { Trigger().wait(); }), "Trigger #N");
  auto listener = TcpListener::bind({"127.0.0.1", 0});
  EXPECT_EQ(shown_while([&] { (void)listener.accept(); }), "Request #N (accept)");
}

MAIN_TYPED_TEST(NamesOfWaits, GivenToAHandleShowUpInIt) {
  const auto trigger = current_runtime().reactor().triggers().make();
  trigger->set_name("alarm");
  EXPECT_EQ(without_serial(trigger->info()), "Trigger #N \"alarm\"");
}

}  // namespace
}  // namespace fermata::conformance
