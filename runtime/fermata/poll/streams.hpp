// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fermata/poll/watches.hpp"
#include "fermata/reactor/streams.hpp"

namespace fermata::poll::detail {

/// TCP; for anything else each throws Unsupported.
class Streams final : public fermata::backend::Streams {
 public:
  explicit Streams(Watches& watches)
      : fermata::backend::Streams(watches.attachment()), watches_(watches) {}

  [[nodiscard]] backend::PipeHandles open_pipe() override;
  [[nodiscard]] Ref<backend::StreamHandle> open_standard(backend::StandardStream which) override;

 private:
  Ref<backend::ListenerHandle> open_listener(const Address& address,
                                             const ListenOptions& options) override;
  Ref<backend::ListenerHandle> open_listener(const backend::PipePath& path,
                                             const ListenOptions& options) override;
  Ref<backend::StreamHandle> open_connection(const Address& peer) override;
  Ref<backend::StreamHandle> open_connection(const backend::PipePath& peer) override;

  [[noreturn]] void refuse(std::string_view part) const;

  Watches& watches_;
};

}  // namespace fermata::poll::detail
