// SPDX-License-Identifier: Apache-2.0
#include "fermata/runtime/io/tcp.hpp"

#include <fmt/format.h>

#include "fermata/runtime/base/error.hpp"
#include "fermata/runtime/io/request_wait.hpp"

namespace fermata {

namespace {

constexpr const char* kMovedFrom = "The event cannot be used after it has been terminated";

}  // namespace

// --- TcpStream ---

TcpStream TcpStream::connect(const Address& peer, const WaitOptions& options, SourcePlace place) {
  detail::check_token(options);
  ConnectRequest request(current_runtime().reactor().streams(), peer);
  detail::finish(request, options, place);
  return TcpStream(request.take());
}

TcpStream& TcpStream::operator=(TcpStream&& other) noexcept {
  if (this != &other) {
    close();
    handle_ = std::move(other.handle_);
  }
  return *this;
}

std::size_t TcpStream::read(std::span<std::byte> buffer, const WaitOptions& options,
                            SourcePlace place) {
  detail::check_token(options);
  ReadRequest request(handle(), buffer);
  detail::finish(request, options, place);
  return request.take();
}

void TcpStream::read_exact(std::span<std::byte> buffer, const WaitOptions& options,
                           SourcePlace place) {
  const detail::Deadline deadline(options);
  for (std::size_t done = 0; done < buffer.size();) {
    const std::size_t size = read(buffer.subspan(done), deadline.remaining(), place);
    if (size == 0) {
      throw InputOutputError(fmt::format("Stream ended after {} of {} bytes", done, buffer.size()));
    }
    done += size;
  }
}

void TcpStream::write(std::span<const std::byte> data, const WaitOptions& options,
                      SourcePlace place) {
  detail::check_token(options);
  if (const std::size_t written = handle().write_at_once(data)) {
    if (written == data.size()) return;
    data = data.subspan(written);
  }
  const detail::Deadline deadline(options);
  do {
    detail::check_token(options);
    WriteRequest request(handle(), data);
    detail::finish(request, deadline.remaining(), place);
    data = data.subspan(request.transferred());
  } while (!data.empty());
}

std::size_t TcpStream::write_some(std::span<const std::byte> data, const WaitOptions& options,
                                  SourcePlace place) {
  detail::check_token(options);
  if (const std::size_t written = handle().write_at_once(data)) return written;
  WriteRequest request(handle(), data, WriteMode::Some);
  detail::finish(request, options, place);
  return request.transferred();
}

void TcpStream::close() noexcept {
  if (handle_) handle_->close();
}

StreamHandle& TcpStream::handle() const {
  FERMATA_REQUIRE(handle_, kMovedFrom);
  return *handle_;
}

// --- TcpListener ---

TcpListener TcpListener::bind(const Address& address, const ListenOptions& options) {
  return TcpListener(current_runtime().reactor().streams().listen(address, options));
}

TcpListener& TcpListener::operator=(TcpListener&& other) noexcept {
  if (this != &other) {
    close();
    handle_ = std::move(other.handle_);
  }
  return *this;
}

std::optional<TcpStream> TcpListener::accept(const WaitOptions& options, SourcePlace place) {
  detail::check_token(options);
  const auto listener = Ref<ListenerHandle>::share(handle());
  if (listener->closed()) return std::nullopt;
  try {
    AcceptRequest request(*listener);
    detail::finish(request, options, place);
    return TcpStream(request.take());
  } catch (const InputOutputError&) {
    if (listener->closed()) return std::nullopt;
    throw;
  }
}

void TcpListener::close() noexcept {
  if (handle_) handle_->close();
}

ListenerHandle& TcpListener::handle() const {
  FERMATA_REQUIRE(handle_, kMovedFrom);
  return *handle_;
}

}  // namespace fermata
