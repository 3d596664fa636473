// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fermata/poll/watches.hpp"
#include "fermata/reactor/streams.hpp"

namespace fermata::poll::detail {

/// TCP; for anything else each throws Unsupported.
class Streams final : public fermata::Streams {
 public:
  explicit Streams(Watches& watches) : fermata::Streams(watches.attachment()), watches_(watches) {}

  [[nodiscard]] PipeHandles open_pipe() override;
  [[nodiscard]] Ref<StreamHandle> open_standard(StandardStream which) override;

 private:
  Ref<ListenerHandle> open_listener(const Address& address, const ListenOptions& options) override;
  Ref<ListenerHandle> open_listener(const PipePath& path, const ListenOptions& options) override;
  Ref<StreamHandle> open_connection(const Address& peer) override;
  Ref<StreamHandle> open_connection(const PipePath& peer) override;

  [[noreturn]] void refuse(std::string_view part) const;

  Watches& watches_;
};

}  // namespace fermata::poll::detail
