// SPDX-License-Identifier: Apache-2.0

// Programs with std::thread, as anybody writes them, and the bugs that such programs have. The
// planted ones run with `--gtest_also_run_disabled_tests`.

#include <fermata/core/assertions.hpp>
#include <fermata/sim.hpp>
#include <memory>
#include <thread>
#include <vector>

#include "examples/foreign_threads/account.hpp"
#include "examples/foreign_threads/alarm_bell.hpp"
#include "examples/foreign_threads/bounded_queue.hpp"
#include "examples/foreign_threads/late_start.hpp"

namespace {

using namespace foreign_threads;

void each_deposit_counts(Locking locking) {
  Account account(locking);
  std::thread one([&] { account.deposit(1); });
  std::thread two([&] { account.deposit(1); });
  one.join();
  two.join();
  FERMATA_ALWAYS_EQ(account.balance(), 2, "each deposit counts");
}

SIM_TEST(ForeignThreads, EachDepositCounts) { each_deposit_counts(Locking::kOnce); }

// Finds: safety: always: each deposit counts
SIM_TEST(ForeignThreads, DISABLED_ADepositIsLost) { each_deposit_counts(Locking::kTwice); }

void transfers_end(Order order) {
  Account savings(Locking::kOnce);
  Account expenses(Locking::kOnce);
  std::thread there([&] { transfer(savings, expenses, 1, order); });
  std::thread back([&] { transfer(expenses, savings, 1, order); });
  there.join();
  back.join();
  FERMATA_ALWAYS_EQ(savings.balance() + expenses.balance(), 0, "no money is made");
}

SIM_TEST(ForeignThreads, TransfersEnd) { transfers_end(Order::kNone); }

// Finds: deadlock: fermata::DeadlockError: Deadlock detected
SIM_TEST(ForeignThreads, DISABLED_TransfersWaitForEachOther) { transfers_end(Order::kAsGiven); }

void everybody_gets_a_whole_label(Publication publication) {
  LateStart start(publication);
  std::vector<std::thread> users;
  for (int i = 0; i < 2; ++i) {
    users.emplace_back([&] { FERMATA_ALWAYS(!start.label().text().empty(), "labels are whole"); });
  }
  for (std::thread& each : users) each.join();
}

SIM_TEST(ForeignThreads, EverybodyGetsAWholeLabel) {
  everybody_gets_a_whole_label(Publication::kWhenComplete);
}

// Finds: safety: always: labels are whole
SIM_TEST(ForeignThreads, DISABLED_ALabelIsUsedBeforeItIsWhole) {
  everybody_gets_a_whole_label(Publication::kAtOnce);
}

void the_bell_is_heard(Look look) {
  AlarmBell bell(look);
  std::thread sleeper([&] { bell.wait(); });
  bell.ring();
  sleeper.join();
}

SIM_TEST(ForeignThreads, TheBellIsHeard) { the_bell_is_heard(Look::kWhileItWaits); }

// Finds: deadlock: fermata::DeadlockError: Deadlock detected
SIM_TEST(ForeignThreads, DISABLED_TheBellRingsTooEarly) { the_bell_is_heard(Look::kBefore); }

template <class Queue>
void all_values_arrive() {
  Queue queue;
  std::thread first([&] { queue.pop(); });
  std::thread second([&] { queue.pop(); });
  queue.push(1);
  queue.push(2);
  first.join();
  second.join();
}

SIM_TEST(ForeignThreads, AllValuesArrive) { all_values_arrive<BoundedQueue>(); }

// Finds: deadlock: fermata::DeadlockError: Deadlock detected
SIM_TEST(ForeignThreads, DISABLED_TheWrongThreadIsWoken) {
  all_values_arrive<QueueWithOneCondition>();
}

}  // namespace
