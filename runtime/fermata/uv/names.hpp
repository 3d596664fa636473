// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fermata/reactor/names.hpp"
#include "fermata/uv/loop.hpp"

namespace fermata::uv::detail {

/// The system's resolver, on libuv's threads.
class Names final : public fermata::backend::Names {
 public:
  explicit Names(Loop& loop) : fermata::backend::Names(loop.attachment()), loop_(loop) {}

 private:
  struct Forward;
  struct Reverse;

  template <class Job>
  static void finish(Job* job, int status) noexcept;

  void enqueue(backend::NameQuery& query) override;
  void withdraw(backend::NameQuery& query) noexcept override;

  Loop& loop_;
};

}  // namespace fermata::uv::detail
