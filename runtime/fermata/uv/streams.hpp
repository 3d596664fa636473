// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fermata/reactor/streams.hpp"
#include "fermata/uv/loop.hpp"

namespace fermata::uv::detail {

class Streams final : public fermata::backend::Streams {
 public:
  explicit Streams(Loop& loop) : fermata::backend::Streams(loop.attachment()), loop_(loop) {}

  [[nodiscard]] backend::PipeHandles open_pipe() override;
  [[nodiscard]] Ref<backend::StreamHandle> open_standard(backend::StandardStream which) override;

 private:
  Ref<backend::ListenerHandle> open_listener(const Address& address,
                                             const ListenOptions& options) override;
  Ref<backend::ListenerHandle> open_listener(const backend::PipePath& path,
                                             const ListenOptions& options) override;
  Ref<backend::StreamHandle> open_connection(const Address& peer) override;
  Ref<backend::StreamHandle> open_connection(const backend::PipePath& peer) override;

  Loop& loop_;
};

}  // namespace fermata::uv::detail
