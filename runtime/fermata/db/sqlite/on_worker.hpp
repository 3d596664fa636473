// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

#include "fermata/db/errors.hpp"
#include "fermata/db/sqlite/handle.hpp"
#include "fermata/io/offload.hpp"

namespace fermata::db::sqlite {

/// Calls `function` on a worker's thread, as the only one at work on `handle`, and returns what it
/// returns. When the wait is interrupted the handle stays busy.
template <class F>
auto on_worker(const std::shared_ptr<Handle>& handle, F&& function) {
  handle->require_in_order();
  handle->busy = true;
  try {
    auto result =
        offload([handle, turn = handle->turn(), function = std::forward<F>(function)]() mutable {
          return handle->run(turn, function);
        });
    handle->busy = false;
    return result;
  } catch (const ConnectionLost&) {
    handle->broken = true;
    throw;
  } catch (const DatabaseError&) {
    handle->busy = false;
    throw;
  }
}

}  // namespace fermata::db::sqlite
