// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a program logs with spdlog, as lines of FERMATA_LOG. For whoever has spdlog: nothing else of
// Fermata includes this, or links it.
//
//   auto logger = std::make_shared<spdlog::logger>("shop",
//                                                  std::make_shared<fermata::SpdlogSink>());
//   logger->warn("{} of {} left", left, all);     // "shop: warning: 3 of 4 left"
//
// Time    spdlog's patterns are not used: they begin with the time of the real world, and a line
//         gets its time where it ends up. spdlog itself reads the clock for each message; in
//         simulation that needs FERMATA_GUARD_ALLOW=clock_gettime, or an AllowNondeterminism.

#include <spdlog/common.h>
#include <spdlog/details/null_mutex.h>
#include <spdlog/sinks/base_sink.h>

#include <mutex>
#include <string>
#include <string_view>

#include "fermata/base/source_place.hpp"
#include "fermata/core/log.hpp"

namespace fermata {

/// Writes what it is given into the program's log. `Mutex` is spdlog's for loggers of one thread,
/// or std::mutex.
template <class Mutex>
class BasicSpdlogSink final : public spdlog::sinks::base_sink<Mutex> {
 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    const auto level = spdlog::level::to_string_view(message.level);
    std::string text;
    if (message.logger_name.size() > 0) {
      text.append(message.logger_name.data(), message.logger_name.size()).append(": ");
    }
    text.append(level.data(), level.size()).append(": ");
    text.append(message.payload.data(), message.payload.size());
    if (message.source.empty()) return log_line(text);
    log_line_from({.file = message.source.filename,
                   .function = message.source.funcname,
                   .line = message.source.line},
                  text);
  }
  void flush_() override {}
};

/// For loggers that coroutines of one thread share.
using SpdlogSink = BasicSpdlogSink<spdlog::details::null_mutex>;
/// For loggers of several threads.
using ThreadSafeSpdlogSink = BasicSpdlogSink<std::mutex>;

}  // namespace fermata
