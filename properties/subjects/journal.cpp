// SPDX-License-Identifier: Apache-2.0
#include "properties/subjects/journal.hpp"

#include <array>
#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "properties/subjects/disk.hpp"

namespace fermata::properties::journal {
namespace {

using std::chrono::milliseconds;

constexpr const char* kPath = "/journal";

struct Record {
  std::uint32_t number = 0;
  std::vector<std::byte> bytes;
};

/// Before each record on the disk.
struct Mark {
  std::uint32_t number = 0;
  std::uint32_t size = 0;
  std::uint64_t chain = 0;  // Of this record and all before it: what is left of others has another.
};

/// Never what is found where nothing was written.
[[nodiscard]] std::uint64_t chain_of(std::uint64_t before, const Record& record) {
  std::uint64_t hash = (before ^ record.number) * 0x9e3779b97f4a7c15 + record.bytes.size();
  for (const std::byte byte : record.bytes) {
    hash = (hash ^ std::to_integer<std::uint64_t>(byte)) * 0x100000001b3;
  }
  return (hash ^ hash >> 29) | 1;
}

template <class T>
void append(std::vector<std::byte>& bytes, const T& head, std::span<const std::byte> rest) {
  const auto head_bytes = std::as_bytes(std::span(&head, 1));
  bytes.insert(bytes.end(), head_bytes.begin(), head_bytes.end());
  bytes.insert(bytes.end(), rest.begin(), rest.end());
}

/// The next `size` bytes of `rest`, if there are as many.
[[nodiscard]] std::optional<std::span<const std::byte>> take(std::span<const std::byte>& rest,
                                                             std::size_t size) {
  if (rest.size() < size) return std::nullopt;
  const auto taken = rest.first(size);
  rest = rest.subspan(size);
  return taken;
}

class Journal {
 public:
  /// With what is whole on the disk. Suspends.
  Journal() : file_(open(kPath, OpenMode::updating())) {
    insist([] { fs::sync_directory("/"); });
    const std::vector<std::byte> all = contents(kPath);
    std::span<const std::byte> rest(all);
    while (recover(rest)) {
    }
    if (FERMATA_FAULT("journal.truncates")) insist([this] { file_.truncate(end_); });
  }

  /// Its place; it is safe by then. One that is there already is not added. Suspends. Throws
  /// InputOutputError: then it may be there after a crash.
  std::size_t append(Record record) {
    const Mutex::Guard guard(busy_);
    for (std::size_t place = 0; place < records_.size(); ++place) {
      if (records_[place].number == record.number) return place;
    }
    const std::uint64_t chain = chain_of(chain_, record);
    std::vector<std::byte> bytes;
    journal::append(bytes,
                    Mark{record.number, static_cast<std::uint32_t>(record.bytes.size()), chain},
                    record.bytes);
    if (FERMATA_FAULT("journal.tears")) {
      file_.write_at(end_, std::span(bytes).first(bytes.size() / 2));
      throw InputOutputError("torn");
    }
    file_.write_at(end_, bytes);
    if (FERMATA_FAULT("journal.dawdles")) delay(milliseconds(5));
    if (FERMATA_FAULT("journal.gives_up")) throw InputOutputError("given up");
    file_.sync();
    end_ += bytes.size();
    chain_ = chain;
    records_.push_back(std::move(record));
    return records_.size() - 1;
  }

  [[nodiscard]] std::vector<std::byte> text() const {
    std::vector<std::byte> text;
    for (const Record& record : records_) {
      journal::append(
          text,
          Header{What::Append, record.number, static_cast<std::uint32_t>(record.bytes.size())},
          record.bytes);
    }
    return text;
  }

 private:
  bool recover(std::span<const std::byte>& rest) {
    const auto head = take(rest, sizeof(Mark));
    if (!head) return false;
    Mark mark;
    std::memcpy(&mark, head->data(), sizeof(mark));
    const auto bytes = take(rest, mark.size);
    if (!bytes) return false;
    Record record{mark.number, {bytes->begin(), bytes->end()}};
    const std::uint64_t chain = chain_of(chain_, record);
    if (chain != mark.chain) return false;
    chain_ = chain;
    end_ += sizeof(Mark) + mark.size;
    records_.push_back(std::move(record));
    return true;
  }

  File file_;
  Mutex busy_{"journal"};
  std::vector<Record> records_;  // All of them safe.
  std::uint64_t end_ = 0;        // Of these, in the file.
  std::uint64_t chain_ = 0;
};

/// Answers one question. Throws InputOutputError when there is none, or no answer.
void answer(Journal& journal, TcpStream& peer) {
  Header question;
  peer.read_exact(std::as_writable_bytes(std::span(&question, 1)));
  std::vector<std::byte> bytes(question.size);
  peer.read_exact(bytes);
  if (question.what == What::Read) return send(peer, question, journal.text());
  const std::size_t place = journal.append({question.number, std::move(bytes)});
  if (FERMATA_FAULT("journal.forgets_to_answer")) throw InputOutputError("forgotten");
  send(peer, {What::Append, static_cast<std::uint32_t>(place)}, {});
}

}  // namespace

void send(TcpStream& stream, Header header, std::span<const std::byte> bytes,
          const WaitOptions& options) {
  header.size = static_cast<std::uint32_t>(bytes.size());
  const std::array<std::span<const std::byte>, 2> parts = {std::as_bytes(std::span(&header, 1)),
                                                           bytes};
  stream.writev(parts, options);
}

void serve(const std::function<void(const Address&)>& hanging_up) {
  const auto journal = std::make_shared<Journal>();
  auto listener = insist([] { return TcpListener::bind(Address("0.0.0.0", kPort)); });
  while (auto accepted = listener.accept()) {
    spawn("session", [journal, hanging_up, peer = std::move(*accepted)]() mutable {
      const Address client = peer.peer_address();
      try {
        while (true) answer(*journal, peer);
      } catch (const InputOutputError&) {
        hanging_up(client);
      }
    });
  }
}

}  // namespace fermata::properties::journal
