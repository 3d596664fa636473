// SPDX-License-Identifier: Apache-2.0
#pragma once

// Counts visitors in a Redis server, with hiredis. Nothing here knows of Fermata: this is what a
// program has that was written for the system.

#include <hiredis/hiredis.h>
#include <sys/time.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <utility>

namespace foreign_client {

/// How a visitor is counted. A command that was not answered is sent again, and `kIncrement` then
/// counts twice. That is the planted bug.
enum class Way { kAddToSet, kIncrement };

struct Free {
  void operator()(redisContext* context) const { redisFree(context); }
  void operator()(void* reply) const { freeReplyObject(reply); }
};

class Visitors {
 public:
  Visitors(std::string host, int port, Way way) : host_(std::move(host)), port_(port), way_(way) {}

  /// Returns when the server has confirmed it.
  void count(const std::string& name) {
    const char* const format = way_ == Way::kAddToSet ? "SADD visitors %s" : "INCR visitors";
    while (!is_confirmed(format, name)) {
      context_.reset();
      ::usleep(100'000);
    }
  }

 private:
  bool is_confirmed(const char* format, const std::string& name) {
    const timeval patience = {.tv_sec = 2, .tv_usec = 0};
    if (context_ == nullptr) {
      context_.reset(redisConnectWithTimeout(host_.c_str(), port_, patience));
      if (context_ == nullptr || context_->err != 0) return false;
      redisSetTimeout(context_.get(), patience);
    }
    const std::unique_ptr<void, Free> reply(redisCommand(context_.get(), format, name.c_str()));
    return reply != nullptr;
  }

  std::string host_;
  int port_;
  Way way_;
  std::unique_ptr<redisContext, Free> context_;
};

}  // namespace foreign_client
