// SPDX-License-Identifier: Apache-2.0
#pragma once

// Simulated tests in Catch2 2:
//
//   #include <fermata/sim/adapters/catch2.hpp>
//   SIM_TEST_CASE("deposits are not lost", "[account]") { ...; REQUIRE(balance == 2); }
//
// The body is explored as that of a SIM_TEST is; `world` is in scope. CHECK, REQUIRE, FAIL and
// their relatives become failures of the run, so that exploring a thousand schedules reports one
// failure. A program of such tests needs Catch2's main(). The tool `fermata` does not know them:
// the program reads the FERMATA_* variables itself, and prints what repeats a failure.
//
// Their expressions must not suspend: Catch2 catches what unwinds a coroutine. SECTION and GENERATE
// make no sense in a body, and fail.

#include <catch2/catch.hpp>

#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/sim/run/framework_test.hpp"
#include "fermata/sim/world/world.hpp"
#include "fermata/sync/await.hpp"

#if CATCH_VERSION_MAJOR != 2
#error "fermata/sim/adapters/catch2.hpp is for Catch2 2; with Catch2 3 use explore_test()"
#endif

namespace fermata::sim::adapters {

/// Takes the results of assertions, instead of Catch2's runner, while it lives.
class Catch2Capture final : public Catch::IResultCapture {
 public:
  Catch2Capture() : before_(Catch::getResultCapture()) {
    Catch::getCurrentMutableContext().setResultCapture(this);
  }
  Catch2Capture(const Catch2Capture&) = delete;
  Catch2Capture& operator=(const Catch2Capture&) = delete;
  ~Catch2Capture() override { Catch::getCurrentMutableContext().setResultCapture(&before_); }

  /// One run.
  void run(World& world, void (*body)(World& world)) {
    world_ = &world;
    messages_.clear();
    try {
      body(world);
    } catch (const Catch::TestFailureException&) {  // The world has failed already.
    }
  }

  bool sectionStarted(const Catch::SectionInfo& section, Catch::Counts& /*assertions*/) override {
    world_->fail(Verdict::Safety, "SECTION(\"" + section.name +
                                      "\") in a simulated test; expected a test case for each");
    return false;
  }
  void sectionEnded(const Catch::SectionEndInfo& /*info*/) override {}
  void sectionEndedEarly(const Catch::SectionEndInfo& /*info*/) override {}
  auto acquireGeneratorTracker(Catch::StringRef /*name*/, const Catch::SourceLineInfo& /*line*/)
      -> Catch::IGeneratorTracker& override {
    throw UsageError("GENERATE in a simulated test; expected fermata::random(), which is explored");
  }
#if defined(CATCH_CONFIG_ENABLE_BENCHMARKING)
  void benchmarkPreparing(const std::string& /*name*/) override {}
  void benchmarkStarting(const Catch::BenchmarkInfo& /*info*/) override {}
  void benchmarkEnded(const Catch::BenchmarkStats<>& /*stats*/) override {}
  void benchmarkFailed(const std::string& /*error*/) override {}
#endif

  void pushScopedMessage(const Catch::MessageInfo& message) override {
    messages_.push_back(message);
  }
  void popScopedMessage(const Catch::MessageInfo& message) override {
    std::erase(messages_, message);
  }
  void emplaceUnscopedMessage(const Catch::MessageBuilder& builder) override {
    std::cout << builder.m_stream.str() << '\n';
  }

  void handleFatalErrorCondition(Catch::StringRef message) override {
    before_.handleFatalErrorCondition(message);
  }
  void handleExpr(const Catch::AssertionInfo& info, const Catch::ITransientExpression& expression,
                  Catch::AssertionReaction& reaction) override {
    const bool wanted = !Catch::isFalseTest(info.resultDisposition);
    if (expression.getResult() == wanted) return assertionPassed();
    std::ostringstream expansion;
    if (!wanted) expansion << "!(";
    expression.streamReconstructedExpression(expansion);
    if (!wanted) expansion << ')';
    failed(info, expansion.str(), reaction);
  }
  void handleMessage(const Catch::AssertionInfo& info, Catch::ResultWas::OfType type,
                     const Catch::StringRef& message, Catch::AssertionReaction& reaction) override {
    const auto text = static_cast<std::string>(message);
    if ((type & Catch::ResultWas::FailureBit) != 0) return failed(info, text, reaction);
    if (!text.empty()) std::cout << text << '\n';
  }
  void handleUnexpectedExceptionNotThrown(const Catch::AssertionInfo& info,
                                          Catch::AssertionReaction& reaction) override {
    failed(info, "expected an exception; none was thrown", reaction);
  }
  void handleUnexpectedInflightException(const Catch::AssertionInfo& info,
                                         const std::string& message,
                                         Catch::AssertionReaction& reaction) override {
    failed(info, "unexpected exception: " + message, reaction);
    reaction.shouldThrow = true;  // It may have been what ends the coroutine.
  }
  void handleIncomplete(const Catch::AssertionInfo& /*info*/) override {}
  void handleNonExpr(const Catch::AssertionInfo& info, Catch::ResultWas::OfType type,
                     Catch::AssertionReaction& reaction) override {
    if ((type & Catch::ResultWas::FailureBit) == 0) return assertionPassed();
    failed(info, "expected another exception, or none", reaction);
  }

  bool lastAssertionPassed() override { return passed_; }
  void assertionPassed() override { passed_ = true; }
  std::string getCurrentTestName() const override { return before_.getCurrentTestName(); }
  const Catch::AssertionResult* getLastResult() const override { return before_.getLastResult(); }
  void exceptionEarlyReported() override {}

 private:
  void failed(const Catch::AssertionInfo& info, const std::string& what,
              Catch::AssertionReaction& reaction) {
    passed_ = false;
    reaction.shouldThrow = (info.resultDisposition & Catch::ResultDisposition::Normal) != 0;
    if (Catch::shouldSuppressFailure(info.resultDisposition)) return;
    std::string text = static_cast<std::string>(info.macroName) + '(' +
                       static_cast<std::string>(info.capturedExpression) + ')';
    if (!what.empty()) text += ": " + what;
    const std::string place =
        std::string(info.lineInfo.file) + ':' + std::to_string(info.lineInfo.line) + ": ";
    std::string lines = place + text;
    for (const Catch::MessageInfo& message : messages_) lines += "\n  with " + message.message;
    world_->fail(Verdict::Safety, place + text, lines);
  }

  Catch::IResultCapture& before_;
  World* world_ = nullptr;
  std::vector<Catch::MessageInfo> messages_;
  bool passed_ = true;
};

/// The test case that runs, as an argument of its program.
inline std::string catch2_filter(const std::string& name) {
  std::string filter;
  for (const char letter : name) {
    if (letter == ',' || letter == '[' || letter == '\\' || letter == '"') filter += '\\';
    filter += letter;
  }
  return filter;
}

inline FrameworkResult explore_catch2_test(void (*body)(World& world)) {
  const std::string name = Catch::getResultCapture().getCurrentTestName();
  Catch2Capture capture;
  return explore_test({name, {catch2_filter(name)}},
                      [&](World& world) { capture.run(world, body); });
}

/// Prints the report, which Catch2 would wrap, so that its lines can be pasted. Returns the
/// headline.
inline std::string headline_of(const FrameworkResult& result) {
  std::cerr << result.failure << std::endl;
  return result.failure.substr(0, result.failure.find('\n')) + " (the report is above)";
}

}  // namespace fermata::sim::adapters

#define FERMATA_CATCH2_TEST_CASE(body, ...)                                           \
  static void body(::fermata::sim::World&);                                           \
  TEST_CASE(__VA_ARGS__) {                                                            \
    const auto result = ::fermata::sim::adapters::explore_catch2_test(&body);         \
    if (!result.failure.empty()) FAIL(::fermata::sim::adapters::headline_of(result)); \
    if (!result.skip_reason.empty()) WARN("skipped: " << result.skip_reason);         \
    SUCCEED();                                                                        \
  }                                                                                   \
  static void body([[maybe_unused]] ::fermata::sim::World& world)

#define SIM_TEST_CASE(...) \
  FERMATA_CATCH2_TEST_CASE(INTERNAL_CATCH_UNIQUE_NAME(fermata_simulated_), __VA_ARGS__)
