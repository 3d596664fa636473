// SPDX-License-Identifier: Apache-2.0
#include "fermata/uv/guest.hpp"

#include <uv.h>

#include <memory>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"

namespace fermata::uv {

namespace {

uv_handle_t* handle(uv_poll_t* watch) { return reinterpret_cast<uv_handle_t*>(watch); }

}  // namespace

Guest::Guest(uv_loop_s& loop, host::GuestOptions options)
    : host::Guest("hosted by uv", std::move(options)) {
  auto made = std::make_unique<uv_poll_t>();
  if (const int code = uv_poll_init(&loop, made.get(), descriptor()); code < 0) {
    throw InputOutputError("watch a guest", -code);
  }
  watch_ = made.release();
  watch_->data = this;
  uv_poll_start(watch_, UV_READABLE, [](uv_poll_t* watch, int, int) noexcept {
    auto& guest = *static_cast<Guest*>(watch->data);
    if (!guest.inside()) guest.pump();
  });
  uv_unref(handle(watch_));
}

Guest::~Guest() {
  end();
  uv_poll_stop(watch_);
  uv_close(handle(watch_),
           [](uv_handle_t* closed) noexcept { delete reinterpret_cast<uv_poll_t*>(closed); });
}

void Guest::keep_host(bool keep) noexcept {
  FERMATA_ASSERT(uv_is_closing(handle(watch_)) == 0);
  keep ? uv_ref(handle(watch_)) : uv_unref(handle(watch_));
}

}  // namespace fermata::uv
