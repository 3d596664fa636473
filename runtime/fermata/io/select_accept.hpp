// SPDX-License-Identifier: Apache-2.0
#pragma once

// The branch of a select that accepts a connection; see select.hpp.

#include <optional>
#include <type_traits>
#include <utility>

#include "fermata/io/stream_listener.hpp"
#include "fermata/sync/select.hpp"

namespace fermata {

namespace detail {

/// A place in the line of those who accept. A connection that it is given, and that nobody takes,
/// goes to the next.
class AcceptPlace {
 public:
  AcceptPlace(SelectWait& wait, backend::ListenerHandle& listener)
      : listener_(Ref<backend::ListenerHandle>::share(listener)),
        request_(listener),
        event_(wait, request_) {}

  [[nodiscard]] bool is_due() const noexcept { return event_.is_due(); }
  /// The connection; null when the listener is closed. Throws the error of the accept.
  [[nodiscard]] Ref<backend::StreamHandle> take() { return take_accepted(*listener_, request_); }

 private:
  Ref<backend::ListenerHandle> listener_;
  backend::AcceptRequest request_;
  SelectEvent event_;
};

template <class Stream, class Handler>
class AcceptBranch final : public SelectBranchBase {
 public:
  using Place = AcceptPlace;

  AcceptBranch(backend::ListenerHandle& listener, Handler& handler,
               const SourcePlace& place) noexcept
      : SelectBranchBase(place), listener_(&listener), handler_(&handler) {}

  [[nodiscard]] bool is_due() const noexcept { return listener_->answers_at_once(); }
  decltype(auto) run_now() const { return run(accept_from(*listener_, {}, this->place())); }
  [[nodiscard]] Place stand(SelectWait& wait) const { return Place(wait, *listener_); }
  [[nodiscard]] Ref<backend::StreamHandle> take_from(Place& there) const { return there.take(); }
  decltype(auto) run(Ref<backend::StreamHandle>&& connection) const {
    std::optional<Stream> stream;
    if (connection) stream.emplace(std::move(connection), this->place());
    return std::invoke(*handler_, std::move(stream));
  }

 private:
  backend::ListenerHandle* listener_;
  Handler* handler_;
};

}  // namespace detail

/// Accepts. The handler gets a `std::optional<Stream>`, a TcpStream for a TcpListener, which is
/// empty when the listener is closed.
template <class Stream, class Handler>
requires(std::is_invocable_v<Handler&, std::optional<Stream>>) [[nodiscard]] FERMATA_HOT
    auto on_accept(const detail::StreamListener<Stream>& listener, Handler&& handler,
                   const SourcePlace& place = SourcePlace::current()) {
  return detail::AcceptBranch<Stream, std::remove_reference_t<Handler>>(listener.handle(), handler,
                                                                        place);
}

}  // namespace fermata
