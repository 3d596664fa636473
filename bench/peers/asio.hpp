// SPDX-License-Identifier: Apache-2.0
#pragma once

// Boost.Asio at its best for one thread: without locks, and with its own executor instead of one of
// any type.

#include <utility>  // Which 1.74's awaitable.hpp needs and does not include.

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace peers {

namespace asio = boost::asio;

using Executor = asio::io_context::executor_type;
template <class T = void>
using Awaitable = asio::awaitable<T, Executor>;

inline constexpr asio::use_awaitable_t<Executor> use_awaitable;

}  // namespace peers
