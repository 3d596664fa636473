// SPDX-License-Identifier: Apache-2.0
#pragma once

// Loops of others with a guest in them, each as a test drives it.

#include <gtest/gtest.h>
#include <poll.h>
#include <uv.h>

#include <exception>
#include <memory>
#include <utility>

#include "fermata/base/function_ref.hpp"
#include "fermata/host/guest.hpp"
#include "fermata/uv/guest.hpp"
#ifdef FERMATA_HAS_ASIO
#include "fermata/host/asio.hpp"
#endif
#ifdef FERMATA_HAS_GLIB
#include "fermata/host/glib.hpp"
#endif

namespace fermata::test {

class TestHost {
 public:
  TestHost() = default;
  TestHost(const TestHost&) = delete;
  TestHost& operator=(const TestHost&) = delete;
  virtual ~TestHost() = default;

  [[nodiscard]] virtual host::Guest& guest() noexcept = 0;
  /// One turn of the host, which waits until there is something to do.
  virtual void turn() = 0;

  /// Runs `body` as a coroutine of the guest, turns the host until it has ended, and throws what it
  /// has thrown, or what has ended the guest.
  void run(detail::FunctionRef<void()> body) {
    bool done = false;
    std::exception_ptr error;
    guest().spawn("main", [&] {
      try {
        body();
      } catch (const ForcedUnwind&) {
        throw;
      } catch (...) {
        error = std::current_exception();
      }
      done = true;
    });
    while (!done && !guest().is_ended()) turn();
    if (!error) error = guest().error();
    if (error) std::rethrow_exception(error);
  }
};

/// Any program that can poll.
class PollingHost final : public TestHost {
 public:
  explicit PollingHost(host::GuestOptions options = {}) : guest_(std::move(options)) {}
  [[nodiscard]] host::Guest& guest() noexcept override { return guest_; }
  void turn() override {
    if (is_ready(-1)) guest_.pump();
  }

  /// Whether the guest wants to be pumped, within so many milliseconds.
  [[nodiscard]] bool is_ready(int milliseconds = 0) const {
    pollfd watched = {guest_.descriptor(), POLLIN, 0};
    return ::poll(&watched, 1, milliseconds) == 1;
  }

 private:
  host::Guest guest_;
};

class UvHost final : public TestHost {
 public:
  explicit UvHost(host::GuestOptions options = {}) {
    uv_loop_init(&loop_);
    guest_ = std::make_unique<uv::Guest>(loop_, std::move(options));
  }
  ~UvHost() override {
    guest_.reset();
    uv_run(&loop_, UV_RUN_DEFAULT);
    uv_loop_close(&loop_);
  }
  [[nodiscard]] host::Guest& guest() noexcept override { return *guest_; }
  [[nodiscard]] uv_loop_t& loop() noexcept { return loop_; }
  void turn() override { uv_run(&loop_, UV_RUN_ONCE); }

 private:
  uv_loop_t loop_;
  std::unique_ptr<uv::Guest> guest_;
};

#ifdef FERMATA_HAS_ASIO
class AsioHost final : public TestHost {
 public:
  explicit AsioHost(host::GuestOptions options = {}) : guest_(context_, std::move(options)) {}
  [[nodiscard]] host::Guest& guest() noexcept override { return guest_; }
  [[nodiscard]] boost::asio::io_context& context() noexcept { return context_; }
  void turn() override {
    if (context_.stopped()) context_.restart();
    context_.run_one();
  }

 private:
  boost::asio::io_context context_;
  host::AsioGuest guest_;
};
#endif

#ifdef FERMATA_HAS_GLIB
class GlibHost final : public TestHost {
 public:
  explicit GlibHost(host::GuestOptions options = {})
      : context_(g_main_context_new()), guest_(context_.get(), std::move(options)) {}
  [[nodiscard]] host::Guest& guest() noexcept override { return guest_; }
  [[nodiscard]] GMainContext* context() noexcept { return context_.get(); }
  void turn() override { g_main_context_iteration(context_.get(), TRUE); }

 private:
  struct Release {
    void operator()(GMainContext* context) const noexcept { g_main_context_unref(context); }
  };
  std::unique_ptr<GMainContext, Release> context_;
  host::GlibGuest guest_;
};
#endif

/// The hosts that this build has.
using Hosts = ::testing::Types<PollingHost, UvHost
#ifdef FERMATA_HAS_ASIO
                               ,
                               AsioHost
#endif
#ifdef FERMATA_HAS_GLIB
                               ,
                               GlibHost
#endif
                               >;

}  // namespace fermata::test
