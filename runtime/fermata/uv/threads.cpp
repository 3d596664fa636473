// SPDX-License-Identifier: Apache-2.0
#include "fermata/uv/threads.hpp"

#include <algorithm>
#include <exception>
#include <system_error>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/core/runtime.hpp"
#include "fermata/uv/reactor.hpp"

namespace fermata::uv::detail {

namespace {

void run(fermata::detail::ThreadLink& link, RuntimeOptions options) noexcept {
  try {
    Runtime runtime(make_reactor(), std::move(options));
    link.run(runtime);
  } catch (...) {
    link.fail(std::current_exception());
  }
  link.end();
}

}  // namespace

// Stop signals are the business of the runtime that started it all.
void Threads::launch(const std::shared_ptr<fermata::detail::ThreadLink>& link) {
  FERMATA_ASSERT(link->stage() == backend::ThreadStage::Starting);
  RuntimeOptions options = attachment_.runtime().options();
  options.name = link->name();
  options.handle_stop_signals = false;
  options.dump_signal = 0;
  threads_.reserve(threads_.size() + 1);
  try {
    threads_.push_back({link.get(), std::thread([link, options = std::move(options)]() mutable {
                          run(*link, std::move(options));
                        })});
  } catch (const std::system_error& error) {
    throw InputOutputError("start thread '" + link->name() + "'", error.code().value());
  }
}

std::size_t Threads::processors() const noexcept {
  return std::max(1u, std::thread::hardware_concurrency());
}

void Threads::join(const fermata::detail::ThreadLink& link) noexcept {
  const auto entry = std::find_if(threads_.begin(), threads_.end(),
                                  [&](const Entry& each) { return each.link == &link; });
  FERMATA_ASSERT(entry != threads_.end());
  FERMATA_ASSERT(entry->thread.joinable());
  entry->thread.join();
  std::swap(*entry, threads_.back());
  threads_.pop_back();
}

}  // namespace fermata::uv::detail
