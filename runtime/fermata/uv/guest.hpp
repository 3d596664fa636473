// SPDX-License-Identifier: Apache-2.0
#pragma once

// A guest in a libuv loop that the program runs itself, with uv_run.
//
// Idle      The loop does not stay for it: uv_run returns when nothing else is left.
// End       The loop must turn once more after the guest, as for any handle, before uv_loop_close,
//           which otherwise says UV_EBUSY; also while the guest is there.
// Waiting   uv_run cannot be entered again, so that enter() cannot wait.

#include "fermata/host/guest.hpp"

struct uv_loop_s;
struct uv_poll_s;

namespace fermata::uv {

class Guest final : public host::Guest {
 public:
  /// `loop` must outlive the guest. Throws InputOutputError, StackExhausted.
  explicit Guest(uv_loop_s& loop, host::GuestOptions options = {});
  ~Guest() override;

 private:
  void keep_host(bool keep) noexcept override;

  uv_poll_s* watch_;  // Lives until libuv has closed it.
};

}  // namespace fermata::uv
