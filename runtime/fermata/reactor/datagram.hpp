// SPDX-License-Identifier: Apache-2.0
#pragma once

// A socket that sends and receives datagrams: messages that arrive whole or not at all, in any
// order, maybe twice.
//
// Receiving  Readers FIFO; each datagram goes to exactly one of them. One that leaves with a
//            datagram it never took passes it on to the next (IO-13). When nobody waits a few are
//            held; then the backend stops, and the system drops what it has no room for.
// Sending    In submission order. The backend is tried at once; what it does not accept is copied,
//            so that a submitted datagram needs the caller no more. A failure is that of one
//            datagram: the next may succeed. There is no end of file.
// Backend    Implements the hooks, calls the `for the backend` section from inside a turn.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <span>
#include <vector>

#include "fermata/base/intrusive_list.hpp"
#include "fermata/reactor/address.hpp"
#include "fermata/reactor/io_handle.hpp"
#include "fermata/reactor/request.hpp"

namespace fermata {

/// The most bytes that a datagram carries over IPv4.
inline constexpr std::size_t kDatagramMax = 65'507;

namespace backend {

class DatagramHandle;

/// A datagram that was received.
struct Datagram {
  /// Bytes in the reader's buffer; 0 for an empty datagram, which arrives like any other.
  std::size_t size = 0;
  /// The sender.
  Address peer;
  /// It was longer than the buffer; the rest is lost.
  bool truncated = false;
};

/// Receives one datagram into `buffer`.
class ReceiveRequest final : public Request {
 public:
  /// Throws UsageError when `buffer` is empty.
  ReceiveRequest(DatagramHandle& socket, std::span<std::byte> buffer);
  ~ReceiveRequest() override;
  void explain_wait(WaitFacts& facts, const CoroutineBase& waiter) const override;

  /// Accepts the datagram, once completed without an error; one that is not accepted goes to the
  /// next reader, whole.
  Datagram take() noexcept;

 private:
  friend class DatagramHandle;

  Ref<DatagramHandle> socket_;
  std::span<std::byte> buffer_;
  Datagram got_;
  std::vector<std::byte> whole_;  // Of a truncated datagram, until it is taken.
  bool untaken_ = false;
  detail::Link<ReceiveRequest> link_;

 public:
  using List = detail::IntrusiveList<ReceiveRequest, &ReceiveRequest::link_>;
};

/// Sends `data` as one datagram; it is not needed after construction. Completes when the system has
/// accepted it, which says nothing of its arrival.
class SendRequest final : public Request {
 public:
  /// Throws UsageError when `data` is longer than kDatagramMax, or `peer` has no port.
  SendRequest(DatagramHandle& socket, std::span<const std::byte> data, const Address& peer);
  ~SendRequest() override;

 private:
  friend class DatagramHandle;

  Ref<DatagramHandle> socket_;
};

class DatagramHandle : public IoHandle {
 public:
  /// Datagrams that are held when nobody reads.
  static constexpr std::size_t kHeldMax = 16;

  [[nodiscard]] virtual Address local_address() const = 0;

  /// Sends `data` when the system accepts it now and no other datagram waits; returns whether it
  /// was sent. Throws as SendRequest does, and InputOutputError when sending fails.
  bool try_send(std::span<const std::byte> data, const Address& peer);

  /// Begins and ends to receive what is sent to a multicast group; the port of `group` is not
  /// looked at. Throws UsageError when it is not one, InputOutputError when it was joined before,
  /// is not joined, or when the machine has no way there.
  void join(const Address& group);
  void leave(const Address& group);

 protected:
  explicit DatagramHandle(detail::Attachment& attachment) : IoHandle(attachment, IoType::Udp) {}
  ~DatagramHandle() override = default;

  // --- hooks; error codes are positive errno values, 0 for success ---

  /// From now on received() is called for each datagram that comes in. REQUIRES: not receiving.
  virtual int start_receiving() = 0;
  virtual void stop_receiving() noexcept = 0;

  /// Sends without waiting; EAGAIN when the system would block. REQUIRES: no send is submitted.
  virtual int send_now(std::span<const std::byte> data, const Address& peer) = 0;

  /// Sends `data`, which stays valid, then calls send_done(). REQUIRES: one at a time.
  virtual int submit_send(std::span<const std::byte> data, const Address& peer) = 0;

  virtual int set_membership(const Address& group, bool member) = 0;

  // --- for the backend ---

  /// A datagram has come in, whole.
  void received(std::span<const std::byte> data, const Address& peer);
  /// Passes an error to the next reader; receiving goes on.
  void receive_failed(int code);

  void send_done(int code);

 private:
  friend class ReceiveRequest;
  friend class SendRequest;

  struct Held {
    std::vector<std::byte> bytes;
    Address peer;
  };

  /// A datagram that the system has not accepted yet.
  struct PendingSend {
    std::unique_ptr<std::byte[]> bytes;
    std::size_t size = 0;
    Address peer;
    SendRequest* request = nullptr;  // Null when it was abandoned.

    [[nodiscard]] std::span<const std::byte> data() const noexcept { return {bytes.get(), size}; }
  };

  void receive(ReceiveRequest& request);
  bool give_to_reader(std::span<const std::byte> data, const Address& peer);
  void give_back(Held datagram);
  void send(SendRequest& request, std::span<const std::byte> data, const Address& peer);
  void submit_next_send();
  void abandon_send(const SendRequest& request) noexcept;
  void change_membership(const char* operation, const Address& group, bool member);
  void stop_armed_receiving() noexcept;
  void fail_parked() override;

  ReceiveRequest::List readers_;
  std::deque<Held> held_;
  std::list<PendingSend> sends_;
  int pending_code_ = 0;  // An error that nobody has been given yet.
  bool receiving_ = false;
};

}  // namespace backend

}  // namespace fermata
