// SPDX-License-Identifier: Apache-2.0
#pragma once

// Where Fermata's rows run: the main coroutine of a runtime on libuv, as in production.

#include <utility>

#include "fermata/runtime.hpp"
#include "fermata/uv/reactor.hpp"

namespace bench {

template <class Body>
void on_libuv(Body&& body) {
  fermata::Runtime runtime(fermata::uv::make_reactor());
  runtime.run(std::forward<Body>(body));
}

}  // namespace bench
