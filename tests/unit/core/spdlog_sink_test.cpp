// SPDX-License-Identifier: Apache-2.0
#ifdef FERMATA_HAS_SPDLOG
#include "fermata/core/spdlog_sink.hpp"

#include <gtest/gtest.h>
#include <spdlog/logger.h>

#include <memory>
#include <string>
#include <vector>

#include "fermata/core/runtime.hpp"
#include "tests/support/virtual_reactor.hpp"

namespace fermata::test {
namespace {

struct Said {
  std::string text;
  std::string coroutine;
  std::string place;
};

template <class Body>
std::vector<Said> said_by(Body body) {
  std::vector<Said> said;
  RuntimeOptions options;
  options.log_sink = [&](const LogLine& line) {
    said.push_back({std::string(line.text), std::string(line.coroutine), line.place.text()});
  };
  TestRuntime fixture(options);
  fixture.run([&] {
    spdlog::logger logger("shop", std::make_shared<SpdlogSink>());
    body(logger);
  });
  return said;
}

TEST(SpdlogSink, WritesTheLoggersNameTheLevelAndTheMessage) {
  const auto said = said_by([](spdlog::logger& logger) {
    logger.warn("{} of {} left", 3, 4);
    logger.debug("below the level of the logger");
  });
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(said[0].text, "shop: warning: 3 of 4 left");
  EXPECT_EQ(said[0].coroutine, "main");
}

TEST(SpdlogSink, HandsOnThePlaceThatSpdlogKnows) {
  const auto said = said_by([](spdlog::logger& logger) {
    logger.log(spdlog::source_loc("shop.cpp", 12, "sell"), spdlog::level::err, "sold out");
  });
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(said[0].text, "shop: error: sold out");
  EXPECT_EQ(said[0].place, "shop.cpp:12 (sell)");
}

TEST(SpdlogSink, MayBeShared) {
  std::string text;
  RuntimeOptions options;
  options.log_sink = [&](const LogLine& line) { text = line.text; };
  TestRuntime fixture(options);
  fixture.run([] {
    spdlog::logger logger("", std::make_shared<ThreadSafeSpdlogSink>());
    logger.info("from any thread");
  });
  EXPECT_EQ(text, "info: from any thread");
}

}  // namespace
}  // namespace fermata::test
#endif
