// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fermata/reactor/streams.hpp"
#include "fermata/uv/loop.hpp"

namespace fermata::uv::detail {

class Streams final : public fermata::Streams {
 public:
  explicit Streams(Loop& loop) : fermata::Streams(loop.attachment()), loop_(loop) {}

  [[nodiscard]] PipeHandles open_pipe() override;
  [[nodiscard]] Ref<StreamHandle> open_standard(StandardStream which) override;

 private:
  Ref<ListenerHandle> open_listener(const Address& address, const ListenOptions& options) override;
  Ref<ListenerHandle> open_listener(const PipePath& path, const ListenOptions& options) override;
  Ref<StreamHandle> open_connection(const Address& peer) override;
  Ref<StreamHandle> open_connection(const PipePath& peer) override;

  Loop& loop_;
};

}  // namespace fermata::uv::detail
