// SPDX-License-Identifier: Apache-2.0
//
// Section A of the list: ids and flags.

#include <algorithm>

#include "tests/conformance/loop_case.hpp"

namespace fermata::conformance {
namespace {

class LoopIds : public LoopCase {};
INSTANTIATE_TEST_SUITE_P(Arms, LoopIds, every_arm(), arm_name);

constexpr CallbackId kUnknown{987'654'321};

bool lists(const Loop& loop, CallbackId id) {
  const auto ids = loop.identifiers();
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

LOOP_CASE(LoopIds, EnablingWhatIsNotThereThrows) {
  try {
    loop.enable(kUnknown);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const loop::InvalidCallback& error) {
    EXPECT_EQ(error.id(), kUnknown);
  }
}

LOOP_CASE(LoopIds, DisablingWhatIsNotThereDoesNothing) { EXPECT_NO_THROW(loop.disable(kUnknown)); }

LOOP_CASE(LoopIds, CancellingWhatIsNotThereDoesNothing) { EXPECT_NO_THROW(loop.cancel(kUnknown)); }

LOOP_CASE(LoopIds, UnreferencingWhatIsNotThereDoesNothing) {
  EXPECT_NO_THROW(loop.unreference(kUnknown));
}

LOOP_CASE(LoopIds, ADeferThatRunsIsNoLongerValid) {
  const CallbackId id = loop.defer([&](CallbackId self) { loop.enable(self); });
  uncaught_in<loop::InvalidCallback>([&] { arm.drive(); });
  EXPECT_FALSE(lists(loop, id));
}

LOOP_CASE(LoopIds, ItIsKnownWhatIsListedAndEnabled) {
  for (const CallbackKind kind : kEveryKind) {
    SCOPED_TRACE(to_string(kind));
    const CallbackId id = add(arm, kind, [](CallbackId) {});
    EXPECT_TRUE(lists(loop, id));
    loop.enable(id);
    EXPECT_TRUE(loop.is_enabled(id));
    loop.disable(id);
    EXPECT_FALSE(loop.is_enabled(id));
    loop.disable(id);
    EXPECT_FALSE(loop.is_enabled(id));
    EXPECT_TRUE(lists(loop, id));
    loop.enable(id);
    EXPECT_TRUE(loop.is_enabled(id));
    loop.cancel(id);
    EXPECT_FALSE(lists(loop, id));
  }
  EXPECT_TRUE(loop.identifiers().empty());
}

LOOP_CASE(LoopIds, ItIsKnownWhatIsReferenced) {
  for (const CallbackKind kind : kEveryKind) {
    SCOPED_TRACE(to_string(kind));
    const CallbackId id = add(arm, kind, [](CallbackId) {});
    const auto expect = [&](bool enabled, bool referenced) {
      EXPECT_EQ(loop.is_enabled(id), enabled);
      EXPECT_EQ(loop.is_referenced(id), referenced);
    };
    expect(true, true);
    for (int round = 0; round < 2; ++round) loop.unreference(id);
    expect(true, false);
    for (int round = 0; round < 2; ++round) loop.disable(id);
    expect(false, false);
    for (int round = 0; round < 2; ++round) loop.enable(id);
    expect(true, false);
    for (int round = 0; round < 2; ++round) loop.reference(id);
    expect(true, true);
    loop.disable(id);
    loop.unreference(id);
    expect(false, false);
    loop.reference(id);
    expect(false, true);
    loop.cancel(id);
    EXPECT_THROW((void)loop.is_enabled(id), loop::InvalidCallback);
    EXPECT_THROW((void)loop.is_referenced(id), loop::InvalidCallback);
    EXPECT_THROW((void)loop.kind(id), loop::InvalidCallback);
    EXPECT_THROW(loop.reference(id), loop::InvalidCallback);
    EXPECT_THROW(loop.enable(id), loop::InvalidCallback);
  }
}

LOOP_CASE(LoopIds, EveryKindIsListedInOrderOfRegistration) {
  std::vector<CallbackId> expected;
  for (const CallbackKind kind : kEveryKind) {
    expected.push_back(add(arm, kind, [](CallbackId) {}));
    EXPECT_EQ(loop.kind(expected.back()), kind);
    EXPECT_TRUE(loop.is_enabled(expected.back()));
    EXPECT_TRUE(loop.is_referenced(expected.back()));
  }
  EXPECT_EQ(loop.identifiers(), expected);
  loop.disable(expected[1]);
  loop.unreference(expected[2]);
  EXPECT_FALSE(loop.is_enabled(expected[1]));
  EXPECT_FALSE(loop.is_referenced(expected[2]));
  EXPECT_EQ(loop.identifiers(), expected);
  while (!expected.empty()) {
    loop.cancel(expected.front());
    expected.erase(expected.begin());
    EXPECT_EQ(loop.identifiers(), expected);
  }
}

}  // namespace
}  // namespace fermata::conformance
