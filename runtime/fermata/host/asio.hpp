// SPDX-License-Identifier: Apache-2.0
#pragma once

// A guest in an io_context of Boost.Asio. Header-only: nothing is to be linked for it.
//
// Threads  One thread runs the io_context; a pump on another one throws UsageError out of run().
// Idle     run() does not stay for it.
// Waiting  enter() calls run_one() meanwhile; outside of run() it restarts a stopped io_context
//          first.
// End      Either may go first. A guest whose io_context is gone stands still.

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "fermata/host/guest.hpp"

namespace fermata::host {

class AsioGuest;

namespace detail {

/// Tells guests that their io_context goes.
class AsioFarewell final : public boost::asio::execution_context::service {
 public:
  static inline boost::asio::execution_context::id id;
  using key_type = AsioFarewell;

  explicit AsioFarewell(boost::asio::execution_context& context) : service(context) {}

  void add(AsioGuest& guest) { guests_.push_back(&guest); }
  void remove(AsioGuest& guest) noexcept { std::erase(guests_, &guest); }

 private:
  inline void shutdown() override;

  std::vector<AsioGuest*> guests_;
};

}  // namespace detail

class AsioGuest final : public Guest {
 public:
  /// Throws boost::system::system_error, InputOutputError, StackExhausted.
  explicit AsioGuest(boost::asio::io_context& context, GuestOptions options = {})
      : Guest("hosted by Asio", std::move(options)), context_(&context) {
    watched_.emplace(context, descriptor());
    boost::asio::use_service<detail::AsioFarewell>(context).add(*this);
  }

  ~AsioGuest() override {
    end();
    if (context_ == nullptr) return;
    boost::asio::use_service<detail::AsioFarewell>(*context_).remove(*this);
    let_go();
  }

  [[nodiscard]] bool can_turn_host() const noexcept override { return context_ != nullptr; }

 private:
  friend class detail::AsioFarewell;

  /// What the handler of a wait may still use when the guest is gone.
  struct Wait {
    AsioGuest* guest;
    bool counted = true;  // The io_context stays for it.
  };

  // Work is given back inside of a handler only: elsewhere the count may come to zero, and that
  // would stop an io_context that does not even run yet. There a turn is asked for that does it.
  void keep_host(bool keep) noexcept override {
    if (context_ == nullptr) return;
    if (wait_ == nullptr) {
      if (keep) start_wait();
      return;
    }
    if (keep == wait_->counted) return;
    if (!keep && !in_handler_) return ask_for_turn();
    wait_->counted = keep;
    const auto executor = context_->get_executor();
    keep ? executor.on_work_started() : executor.on_work_finished();
  }

  bool turn_host(bool first) override {
    if (context_ == nullptr) return false;
    const bool runs = context_->get_executor().running_in_this_thread();
    if (first && !runs && context_->stopped()) context_->restart();
    return context_->run_one() > 0;
  }

  void start_wait() {
    wait_ = std::make_shared<Wait>(Wait{this});
    watched_->async_wait(
        boost::asio::posix::stream_descriptor::wait_read,
        [wait = wait_, executor = context_->get_executor()](const boost::system::error_code&) {
          if (!wait->counted) executor.on_work_started();
          wait->counted = true;
          if (wait->guest != nullptr) wait->guest->on_readable();
        });
  }

  void on_readable() {
    start_wait();
    const bool outer = std::exchange(in_handler_, true);
    if (!inside()) pump();
    if (is_idle()) keep_host(false);
    in_handler_ = outer;
  }

  void let_go() noexcept {
    if (wait_ != nullptr) {
      wait_->guest = nullptr;
      if (!wait_->counted) context_->get_executor().on_work_started();
      wait_->counted = true;
    }
    wait_.reset();
    watched_->release();  // It must not close what is the guest's.
    watched_.reset();
    context_ = nullptr;
  }

  boost::asio::io_context* context_;  // Null when it is gone.
  std::optional<boost::asio::posix::stream_descriptor> watched_;
  std::shared_ptr<Wait> wait_;  // The one that is pending.
  bool in_handler_ = false;
};

inline void detail::AsioFarewell::shutdown() {
  for (AsioGuest* guest : std::exchange(guests_, {})) guest->let_go();
}

}  // namespace fermata::host
