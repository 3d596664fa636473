// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/db/server_session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/sim/db/postgresql_session.hpp"
#include "fermata/sim/db/sql_error.hpp"
#include "fermata/sim/db/wire.hpp"

namespace fermata::sim::detail {

namespace {

using sql::SqlError;
using wire::Frame;
using wire::Kind;

constexpr std::size_t kFrameRows = 64;
constexpr std::size_t kFrameBytes = std::size_t{32} << 10;

/// The frames of one client.
class ClientLine {
 public:
  ClientLine(TcpStream stream, std::span<const std::byte> begun, std::uint64_t client,
             DatabaseTap* tap)
      : stream_(std::move(stream)), client_(client), tap_(tap) {
    input_.add(begun);
  }

  /// The next frame; nothing at the end of the stream. Throws Timeout when the client is silent.
  std::optional<Frame> read(Duration silence_max) {
    while (true) {
      if (std::optional<Frame> frame = input_.next()) {
        if (tap_ != nullptr) tap_->asked(client_, *frame);
        return frame;
      }
      std::array<std::byte, 4096> buffer;
      const std::size_t size = stream_.read(buffer, {.timeout = silence_max});
      if (size == 0) return std::nullopt;
      input_.add(std::span(buffer).first(size));
    }
  }

  wire::Writer& writer() noexcept { return writer_; }

  void send(Duration span_max) {
    std::vector<std::byte> frames = writer_.take();
    if (tap_ != nullptr) tell(frames);
    stream_.write(std::move(frames), {.timeout = span_max});
  }

 private:
  void tell(std::span<const std::byte> frames) {
    wire::Assembler output;
    output.add(frames);
    while (const std::optional<Frame> frame = output.next()) tap_->answered(client_, *frame);
  }

  TcpStream stream_;
  std::uint64_t client_;
  DatabaseTap* tap_;
  wire::Assembler input_;
  wire::Writer writer_;
};

class ServerSession {
 public:
  ServerSession(DatabaseServerState& server, ClientLine& line)
      : line_(line), backend_(server, random_bits()), session_(backend_.session()) {}

  void run() {
    line_.writer().begin(Kind::Ready).u64(session_.id()).u64(backend_.secret()).end();
    send();
    while (const std::optional<Frame> frame = next()) answer(*frame);
  }

 private:
  /// An answer that is sent in portions.
  struct Portal {
    sql::Result result;
    std::size_t sent = 0;
  };

  std::optional<Frame> next() {
    try {
      return line_.read(backend_.silence_max());
    } catch (const Timeout&) {
      backend_.throw_silent();
    }
  }

  void answer(const Frame& frame) {
    wire::Reader fields(frame.fields);
    try {
      switch (frame.kind) {
        case Kind::Execute:
        case Kind::ExecutePrepared:
          return execute(frame.kind, fields);
        case Kind::Prepare:
          return prepare(fields);
        case Kind::Forget:
          plans_.erase(fields.u32());
          return fields.end();
        case Kind::More:
          return send_portion(fields.u32());
        case Kind::Reset:
          return reset();
        case Kind::Sync:
          portal_.reset();
          line_.writer().begin(Kind::Synced).u32(fields.u32()).u8(state()).end();
          return send();
        default:
          throw wire::WireError(
              fmt::format("a frame of kind {}", static_cast<unsigned>(frame.kind)));
      }
    } catch (const Farewell&) {
      throw;
    } catch (const SqlError& error) {
      portal_.reset();
      backend_.delay_a_little();
      line_.writer().begin(Kind::Error).u8(0).text(error.sqlstate()).text(error.what());
      line_.writer().u8(state()).end();
      send();
    }
  }

  void execute(Kind kind, wire::Reader& fields) {
    portal_.reset();
    pause(backend_.latency());
    sql::Plan planned;
    const sql::Plan* plan = &planned;
    if (kind == Kind::Execute) {
      planned = session_.plan(fields.text());
    } else {
      plan = &prepared(fields.u32());
    }
    const std::vector<db::Value> parameters = fields.values();
    const std::uint32_t portion = fields.u32();
    fields.end();
    pause(session_.duration(*plan, parameters));
    portal_ = Portal{session_.execute(*plan, parameters)};
    backend_.delay_a_little();
    send_columns();
    send_portion(portion);
  }

  void prepare(wire::Reader& fields) {
    portal_.reset();
    const std::uint32_t number = fields.u32();
    pause(backend_.latency());
    sql::Plan plan = session_.plan(fields.text());
    fields.end();
    const std::size_t parameters = plan.command.parameter_count;
    plans_.insert_or_assign(number, std::move(plan));
    line_.writer().begin(Kind::Prepared).u32(static_cast<std::uint32_t>(parameters));
    line_.writer().u8(state()).end();
    send();
  }

  const sql::Plan& prepared(std::uint32_t number) {
    const auto found = plans_.find(number);
    if (found == plans_.end()) {
      session_.fail("26000");
      throw SqlError("26000", fmt::format("prepared command {} does not exist", number));
    }
    return found->second;
  }

  void reset() {
    portal_.reset();
    pause(backend_.latency());
    session_.reset();
    plans_.clear();
    send_done(0);
  }

  void send_columns() {
    const std::vector<std::string>& columns = portal_->result.columns;
    if (columns.empty()) return;
    wire::Writer& writer = line_.writer();
    writer.begin(Kind::Columns).u32(static_cast<std::uint32_t>(columns.size()));
    for (const std::string& column : columns) writer.text(column);
    writer.end();
  }

  /// The next `portion` rows, or all that are left when that is 0.
  void send_portion(std::uint32_t portion) {
    if (!portal_) return;
    const std::vector<sql::Row>& rows = portal_->result.rows;
    std::size_t end = rows.size();
    if (portion != 0) end = std::min(end, portal_->sent + portion);
    while (portal_->sent < end) send_rows(end);
    if (end < rows.size()) {
      line_.writer().begin(Kind::Suspended).end();
      return send();
    }
    send_done(std::exchange(portal_, std::nullopt)->result.affected_rows);
  }

  /// One frame of rows, up to `end` at most.
  void send_rows(std::size_t end) {
    const std::vector<sql::Row>& rows = portal_->result.rows;
    wire::Writer cells;
    std::size_t& sent = portal_->sent;
    const std::size_t first = sent;
    while (sent < end && sent - first < kFrameRows && cells.size() < kFrameBytes) {
      for (const db::Value& value : rows[sent]) cells.cell(db::view(value));
      ++sent;
    }
    if (cells.size() + sizeof(std::uint32_t) > wire::kFrameMax) {
      session_.fail("54000");
      throw SqlError("54000", "a row is too large to be sent");
    }
    line_.writer().begin(Kind::Rows).u32(static_cast<std::uint32_t>(sent - first));
    line_.writer().raw(cells.take()).end();
    send();
  }

  void send_done(std::uint64_t affected_rows) {
    line_.writer().begin(Kind::Done).u64(affected_rows).u8(state()).end();
    send();
  }

  void send() { line_.send(backend_.options().transaction_idle_max); }

  [[nodiscard]] std::uint8_t state() const noexcept {
    return static_cast<std::uint8_t>(session_.transaction());
  }

  void pause(Duration span) {
    backend_.pause(span, [this] {
      line_.writer().begin(Kind::StillRunning).end();
      send();
    });
  }

  ClientLine& line_;
  Backend backend_;
  sql::Session& session_;
  std::map<std::uint32_t, sql::Plan> plans_;
  std::optional<Portal> portal_;
};

void check_startup(const DatabaseServerState& server, const Frame& frame) {
  wire::Reader fields(frame.fields);
  if (frame.kind != Kind::Startup)
    throw wire::WireError("the first frame is not a startup message");
  const std::string_view user = fields.text();
  const std::string_view password = fields.text();
  const std::string_view database = fields.text();
  fields.end();
  if (!server.database.lets_in(user, password)) {
    throw Farewell("28P01", fmt::format("password authentication failed for user \"{}\"", user));
  }
  require_welcome(server, database);
}

void converse(DatabaseServerState& server, ClientLine& line) {
  const std::optional<Frame> first = line.read(kStartupMax);
  if (!first) return;
  if (first->kind == Kind::Cancel) {
    wire::Reader fields(first->fields);
    const std::uint64_t session = fields.u64();
    return cancel_session(server, session, fields.u64(), Lateness::None);
  }
  check_startup(server, *first);
  ServerSession(server, line).run();
}

void serve_frames(DatabaseServerState& server, ClientLine line) {
  const auto say_farewell = [&](std::string_view sqlstate, std::string_view why) {
    line.writer().begin(Kind::Error).u8(1).text(sqlstate).text(why);
    line.writer().u8(static_cast<std::uint8_t>(db::TransactionState::Unknown)).end();
    line.send(kStartupMax);
  };
  try {
    converse(server, line);
  } catch (const Farewell& reason) {
    say_farewell(reason.sqlstate(), reason.what());
  } catch (const wire::WireError& error) {
    say_farewell("08P01", error.what());
  }
}

/// The first bytes that the client says, as many as tell what it speaks; fewer when it says no
/// more.
std::vector<std::byte> read_begin(TcpStream& stream) {
  std::vector<std::byte> begun;
  while (begun.size() < wire::kHeaderSize) {
    std::array<std::byte, 4096> buffer;
    const std::size_t size = stream.read(buffer, {.timeout = kStartupMax});
    if (size == 0) break;
    begun.insert(begun.end(), buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(size));
  }
  return begun;
}

/// Behind the length stands the version of the protocol, where a frame has its kind, a letter.
bool is_postgresql(std::span<const std::byte> begun) {
  return begun[wire::kHeaderSize - 1] < std::byte{' '};
}

}  // namespace

void serve_database_client(const std::shared_ptr<DatabaseServerState>& server, TcpStream stream) {
  const std::uint64_t client = ++server->clients_made;
  try {
    const std::vector<std::byte> begun = read_begin(stream);
    if (begun.size() < wire::kHeaderSize) return;
    if (is_postgresql(begun))
      return postgresql::serve_client(*server, client, std::move(stream), begun);
    serve_frames(*server, {std::move(stream), begun, client, server->options.tap.get()});
  } catch (const InputOutputError&) {  // The client has gone, or cannot be reached.
  } catch (const Timeout&) {
  }
}

}  // namespace fermata::sim::detail
