// SPDX-License-Identifier: Apache-2.0
#include "fermata/core/observer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "tests/support/events.hpp"
#include "tests/support/runtime_fixture.hpp"

namespace fermata::test {
namespace {

using detail::TraceHash;
using detail::TraceLog;

TEST(TraceHash, DependsOnEverythingAndOnTheOrder) {
  const auto hash = [](std::vector<std::array<std::uint64_t, 3>> items) {
    TraceHash trace;
    for (const auto& item : items) trace.add(item[0], item[1], item[2]);
    return trace.value();
  };
  const std::uint64_t base = hash({{1, 2, 3}, {4, 5, 6}});
  EXPECT_EQ(hash({{1, 2, 3}, {4, 5, 6}}), base);
  EXPECT_NE(hash({{4, 5, 6}, {1, 2, 3}}), base);
  EXPECT_NE(hash({{2, 2, 3}, {4, 5, 6}}), base);
  EXPECT_NE(hash({{1, 3, 3}, {4, 5, 6}}), base);
  EXPECT_NE(hash({{1, 2, 4}, {4, 5, 6}}), base);
  EXPECT_NE(hash({{1, 2, 3}}), base);
}

class JournalTest : public RuntimeFixture {
 protected:
  /// False, and nothing is written, once the hash has been stopped.
  bool write(const Event& event, std::uint64_t detail) {
    if (!trace_log.is_ready() && !trace_log.get_ready()) return false;
    trace_log.write(backend::Trace::EventFired, event, detail);
    return true;
  }

  void touch(const Event& event) { write(event, 0); }

  /// The touched events that are left.
  std::vector<const Event*> touched() const {
    std::vector<const Event*> left;
    for (const Event* event : trace_log.touched()) {
      if (event != nullptr) left.push_back(event);
    }
    return left;
  }

  void forget(const Event& event) {
    trace_log.forget(event);
    event.audit_mark().unset(Event::AuditMark::kTouched);
  }

  TraceHash hash;
  TraceLog trace_log{&hash};
};

TEST_F(JournalTest, KeepsEachTouchedEventOnce) {
  const auto a = make_event<PlainEvent>(fixture.runtime);
  const auto b = make_event<PlainEvent>(fixture.runtime);
  EXPECT_TRUE(trace_log.touched().empty());
  touch(*a);
  touch(*b);
  touch(*a);
  trace_log.write(backend::Trace::MicrotaskRun, 0);
  EXPECT_EQ(touched(), (std::vector<const Event*>{a.get(), b.get()}));
  trace_log.forget_all();
  EXPECT_TRUE(trace_log.touched().empty());
}

TEST_F(JournalTest, NotesAUseThatLeavesNoTrace) {
  const auto used = make_event<PlainEvent>(fixture.runtime);
  const std::uint64_t before = hash.value();
  trace_log.note_use(*used);
  trace_log.note_use(*used);
  EXPECT_EQ(hash.value(), before);
  EXPECT_EQ(touched(), (std::vector<const Event*>{used.get()}));
  trace_log.forget_all();
  used->audit_mark().unset(Event::AuditMark::kTouched);
  hash.stop();
  trace_log.note_use(*used);
  EXPECT_TRUE(trace_log.touched().empty());
}

TEST_F(JournalTest, ForgetsInAnyOrder) {
  std::vector<Ref<PlainEvent>> events;
  for (int i = 0; i < 5; ++i) events.push_back(make_event<PlainEvent>(fixture.runtime));
  std::vector<std::size_t> order = {0, 1, 2, 3, 4};
  do {
    for (const auto& event : events) touch(*event);
    std::vector<const Event*> left;
    for (const auto& event : events) left.push_back(event.get());
    for (const std::size_t index : order) {
      forget(*events[index]);
      left.erase(std::find(left.begin(), left.end(), events[index].get()));
      ASSERT_EQ(touched(), left);
    }
    ASSERT_TRUE(trace_log.touched().empty()) << "nothing is left to look at";
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST_F(JournalTest, HasRoomForManyAndKeepsTheirOrder) {
  std::vector<Ref<PlainEvent>> events;
  std::vector<const Event*> expected;
  for (int i = 0; i < 1'000; ++i) {
    events.push_back(make_event<PlainEvent>(fixture.runtime));
    touch(*events.back());
    if (i % 3 == 0) {
      forget(*events.back());
    } else {
      expected.push_back(events.back().get());
    }
  }
  EXPECT_EQ(touched(), expected);
}

TEST_F(JournalTest, KnowsWithoutMarksWhetherAnythingIsLeft) {
  const auto a = make_event<PlainEvent>(fixture.runtime);
  const auto b = make_event<PlainEvent>(fixture.runtime);
  trace_log.mark_touched(false);
  for (const auto& event : {a, b, a, a}) touch(*event);
  EXPECT_FALSE(a->audit_mark().has(Event::AuditMark::kTouched));
  trace_log.forget(*a);
  EXPECT_EQ(touched(), (std::vector<const Event*>{b.get()}));
  trace_log.forget(*b);
  EXPECT_TRUE(trace_log.touched().empty());
}

TEST_F(JournalTest, NeedsWithoutMarksNoMoreRoomForALongStep) {
  const auto a = make_event<PlainEvent>(fixture.runtime);
  const auto b = make_event<PlainEvent>(fixture.runtime);
  trace_log.mark_touched(false);
  for (int i = 0; i < 100'000; ++i) touch(i % 2 == 0 ? *a : *b);
  EXPECT_LE(trace_log.touched().size(), 64u);
  EXPECT_FALSE(a->audit_mark().has(Event::AuditMark::kTouched));
}

TEST_F(JournalTest, GoesOnWithMarksWhenAStepTouchesMany) {
  std::vector<Ref<PlainEvent>> events;
  for (int i = 0; i < 1'000; ++i) events.push_back(make_event<PlainEvent>(fixture.runtime));
  trace_log.mark_touched(false);
  for (int round = 0; round < 3; ++round) {
    for (const auto& event : events) touch(*event);
  }
  EXPECT_EQ(touched().size(), events.size());
  for (std::size_t i = 0; i < 500; ++i) forget(*events[i]);
  EXPECT_EQ(touched().size(), 500u);
  trace_log.start_over();
  EXPECT_TRUE(trace_log.touched().empty());
  for (const auto& event : events)
    EXPECT_FALSE(event->audit_mark().has(Event::AuditMark::kTouched));
  touch(*events[0]);
  EXPECT_FALSE(events[0]->audit_mark().has(Event::AuditMark::kTouched)) << "few, again";
}

TEST_F(JournalTest, WritesNothingOnceTheHashIsStopped) {
  const auto event = make_event<PlainEvent>(fixture.runtime);
  hash.stop();
  const std::uint64_t before = hash.value();
  EXPECT_FALSE(write(*event, 1));
  EXPECT_EQ(hash.value(), before);
  EXPECT_TRUE(trace_log.touched().empty());
  hash.reset();
  EXPECT_TRUE(write(*event, 1));
  EXPECT_NE(hash.value(), before);
}

}  // namespace
}  // namespace fermata::test
