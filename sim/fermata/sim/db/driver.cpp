// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/db/driver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <deque>
#include <optional>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/db/errors.hpp"
#include "fermata/db/placeholders.hpp"
#include "fermata/io/tcp.hpp"
#include "fermata/reactor/name_query.hpp"
#include "fermata/sim/db/line.hpp"
#include "fermata/sim/db/wire.hpp"

namespace fermata::sim {

namespace {

using db::sqlstate::kBadParameters;
using detail::Line;
using wire::Frame;
using wire::Kind;

constexpr Duration kConnectMax = std::chrono::seconds(10);
constexpr Duration kCancelMax = std::chrono::seconds(2);
constexpr Duration kPingMax = std::chrono::seconds(10);
constexpr Duration kDrainMax = std::chrono::seconds(3);
constexpr std::uint32_t kPortionRows = 64;

/// What the server says, or that it says nothing that can be understood.
template <class Read>
auto understood(Line& line, Read&& read) {
  try {
    return read();
  } catch (const wire::WireError& error) {
    line.lose(db::sqlstate::kProtocolViolation, error.what());
  }
}

void require_plain_text(const Line& line, std::string_view text, std::string_view what) {
  if (text.find('\0') == std::string_view::npos) return;
  throw db::ParameterError(line.database(), "22021", fmt::format("{} has a NUL in it", what));
}

void require_parameters(const Line& line, db::Parameters parameters, std::size_t expected) {
  if (parameters.size() != expected) {
    throw db::ParameterError(
        line.database(), kBadParameters,
        fmt::format("{} parameters, expected {}", parameters.size(), expected));
  }
  for (const db::Cell& cell : parameters) {
    if (const auto* text = std::get_if<std::string_view>(&cell)) {
      require_plain_text(line, *text, "a parameter");
    }
  }
}

/// Sends the request in `frames`, together with what the server may forget.
void send_request(Line& line, wire::Writer& frames) {
  if (frames.size() - wire::kHeaderSize > wire::kFrameMax) {
    throw db::ParameterError(line.database(), "54000",
                             fmt::format("a command of {} bytes", frames.size()));
  }
  for (const std::uint32_t number : std::exchange(line.forgotten, {})) {
    frames.begin(Kind::Forget).u32(number).end();
  }
  ++line.unanswered;
  line.send(frames);
}

std::uint32_t portion_of(db::Fetch fetch) noexcept {
  return fetch == db::Fetch::All ? 0 : kPortionRows;
}

class DatabaseAnswer final : public db::Answer {
 public:
  DatabaseAnswer(std::shared_ptr<Line> line, db::Fetch fetch) : line_(std::move(line)) {
    understood(*line_, [&] {
      receive();
      while (fetch == db::Fetch::All && !ended_) receive();
    });
  }

  [[nodiscard]] const std::vector<std::string>& columns() const noexcept override {
    return columns_;
  }

  bool next(std::vector<db::Cell>& row) override {
    return understood(*line_, [&] {
      while (rows_left_ == 0) {
        if (frames_.empty() && ended_) return false;
        if (frames_.empty()) {
          receive();
          continue;
        }
        current_ = std::move(frames_.front());
        frames_.pop_front();
        fields_ = wire::Reader(current_.fields);
        rows_left_ = fields_.u32();
      }
      --rows_left_;
      row.resize(columns_.size());
      for (db::Cell& cell : row) cell = fields_.cell();
      if (rows_left_ == 0) fields_.end();
      return true;
    });
  }

  [[nodiscard]] const db::Effect& effect() const noexcept override {
    FERMATA_ASSERT(ended_ && frames_.empty() && rows_left_ == 0);
    return effect_;
  }

 private:
  void receive() {
    Frame frame = line_->receive();
    wire::Reader fields(frame.fields);
    switch (frame.kind) {
      case Kind::Columns:
        for (std::uint32_t count = fields.u32(); count > 0; --count) {
          columns_.emplace_back(fields.text());
        }
        return fields.end();
      case Kind::Rows:
        if (columns_.empty()) line_->unexpected(frame);
        frames_.push_back(std::move(frame));
        return;
      case Kind::Suspended: {
        fields.end();
        wire::Writer more;
        more.begin(Kind::More).u32(kPortionRows).end();
        return line_->send(more);
      }
      case Kind::Done:
        effect_.affected_rows = line_->read_done(fields);
        ended_ = true;
        return;
      case Kind::Error:
        ended_ = true;
        line_->read_error(fields);
      default:
        line_->unexpected(frame);
    }
  }

  std::shared_ptr<Line> line_;
  std::vector<std::string> columns_;
  std::deque<Frame> frames_;  // Of rows, not begun yet.
  Frame current_;
  wire::Reader fields_{{}};  // What is left of it.
  std::uint32_t rows_left_ = 0;
  db::Effect effect_;
  bool ended_ = false;
};

class DatabasePrepared final : public db::Prepared {
 public:
  explicit DatabasePrepared(std::shared_ptr<Line> line)
      : line_(std::move(line)), number_(++line_->prepared_made) {}
  DatabasePrepared(const DatabasePrepared&) = delete;
  DatabasePrepared& operator=(const DatabasePrepared&) = delete;
  ~DatabasePrepared() override { line_->forgotten.push_back(number_); }

  void prepare(std::string_view sql) {
    wire::Writer request;
    request.begin(Kind::Prepare).u32(number_).text(sql).end();
    send_request(*line_, request);
    understood(*line_, [&] {
      const Frame frame = line_->receive();
      if (frame.kind != Kind::Prepared) line_->unexpected(frame);
      wire::Reader fields(frame.fields);
      parameters_ = fields.u32();
      line_->read_state(fields);
      --line_->unanswered;
    });
  }

  [[nodiscard]] std::size_t parameter_count() const noexcept override { return parameters_; }

  [[nodiscard]] std::unique_ptr<db::Answer> execute(db::Parameters parameters) override {
    require_parameters(*line_, parameters, parameters_);
    wire::Writer frame;
    frame.begin(Kind::ExecutePrepared).u32(number_).cells(parameters);
    frame.u32(portion_of(db::Fetch::ByRows)).end();
    send_request(*line_, frame);
    return std::make_unique<DatabaseAnswer>(line_, db::Fetch::ByRows);
  }

 private:
  std::shared_ptr<Line> line_;
  std::uint32_t number_;
  std::size_t parameters_ = 0;
};

class DatabaseConnection final : public db::Connection {
 public:
  explicit DatabaseConnection(std::shared_ptr<Line> line) : line_(std::move(line)) {}
  DatabaseConnection(const DatabaseConnection&) = delete;
  DatabaseConnection& operator=(const DatabaseConnection&) = delete;
  ~DatabaseConnection() override { line_->break_off(); }

  [[nodiscard]] std::unique_ptr<db::Answer> execute(std::string_view sql, db::Parameters parameters,
                                                    db::Fetch fetch) override {
    require_plain_text(*line_, sql, "a command");
    const db::Placeholders used = replace_placeholders(sql, db::PlaceholderStyle::Numbered);
    require_parameters(*line_, parameters, used.count);
    wire::Writer frame;
    frame.begin(Kind::Execute).text(sql).cells(parameters).u32(portion_of(fetch)).end();
    send_request(*line_, frame);
    return std::make_unique<DatabaseAnswer>(line_, fetch);
  }

  [[nodiscard]] std::unique_ptr<db::Prepared> prepare(std::string_view sql) override {
    require_plain_text(*line_, sql, "a command");
    auto prepared = std::make_unique<DatabasePrepared>(line_);
    prepared->prepare(sql);
    return prepared;
  }

  [[nodiscard]] bool is_stale_plan(std::string_view sqlstate) const noexcept override {
    return sqlstate == "0A000" || sqlstate == "26000";
  }

  [[nodiscard]] db::TransactionState transaction() const noexcept override {
    return line_->transaction();
  }
  [[nodiscard]] bool is_broken() const noexcept override { return line_->is_broken(); }
  [[nodiscard]] bool looks_alive() noexcept override { return line_->is_alive(); }

  void ping() override { synchronise(kPingMax, false); }

  void reset_session() override {
    wire::Writer frame;
    frame.begin(Kind::Reset).end();
    send_request(*line_, frame);
    (void)DatabaseAnswer(line_, db::Fetch::All);
  }

  void set_attribute(std::string_view name, std::string_view value) override {
    run(fmt::format("SET {} = {}", quoted(name, '"'), quoted(value, '\'')));
  }

  void interrupt() override {
    if (line_->is_broken() || line_->unanswered == 0) return;
    try {
      if (!cancel_command()) return line_->break_off();
      synchronise(kDrainMax, true);
    } catch (const db::DatabaseError&) {
      line_->break_off();
    } catch (...) {
      line_->break_off();
      throw;
    }
  }

 private:
  static std::string quoted(std::string_view text, char quote) {
    std::string result(1, quote);
    for (const char c : text) result.append(c == quote ? 2 : 1, c);
    return result += quote;
  }

  /// The server has answered everything up to now when this returns. With `drains` what it says
  /// before is of no interest, otherwise a surprise.
  void synchronise(Duration span_max, bool drains) {
    const std::uint32_t mark = ++line_->marks_made;
    wire::Writer request;
    request.begin(Kind::Sync).u32(mark).end();
    ++line_->unanswered;
    const Instant deadline = now() + span_max;
    line_->send(request, deadline);
    understood(*line_, [&] {
      while (true) {
        const Frame frame = line_->receive(deadline);
        wire::Reader fields(frame.fields);
        if (frame.kind == Kind::Synced && fields.u32() == mark) {
          line_->read_state(fields);
          line_->unanswered = 0;
          return;
        }
        if (!drains || is_farewell(frame)) line_->unexpected(frame);
      }
    });
  }

  static bool is_farewell(const Frame& frame) {
    return frame.kind == Kind::Error && wire::Reader(frame.fields).u8() != 0;
  }

  /// Asks the server to stop what runs. False when it cannot be told whether it was asked: then the
  /// request may still be under way, to strike a later command.
  bool cancel_command() {
    std::optional<TcpStream> stream;
    try {
      stream = TcpStream::connect(line_->peer(), {.timeout = kCancelMax});
    } catch (const InputOutputError&) {
      return true;  // The command runs on, and may still end in time.
    } catch (const Timeout&) {
      return true;
    }
    try {
      wire::Writer frame;
      frame.begin(Kind::Cancel).u64(line_->session).u64(line_->secret).end();
      stream->write(frame.take(), {.timeout = kCancelMax});
      std::array<std::byte, 1> nothing{};
      return stream->read(nothing, {.timeout = kCancelMax}) == 0;
    } catch (const InputOutputError&) {
      return false;
    } catch (const Timeout&) {
      return false;
    }
  }

  std::shared_ptr<Line> line_;
};

class DatabaseDriver final : public db::Driver {
 public:
  void check(const db::Target& target) const override {
    const auto require = [&](bool fine, std::string_view expected) {
      if (!fine) {
        throw UsageError(fmt::format("database \"{}\": expected {}", target.text(), expected));
      }
    };
    require(target.scheme == "sim", "the scheme sim");
    require(!target.host.empty() && target.port && *target.port != 0, "a host and a port");
    require(!target.database.empty(), "the name of a database");
    require(target.options.empty(), "no options");
  }

  [[nodiscard]] std::unique_ptr<db::Connection> connect(db::Target target) override {
    check(target);
    const auto fail = [&](std::string_view sqlstate, std::string_view why) {
      throw db::ConnectError(target.text(), sqlstate, why);
    };
    std::optional<TcpStream> stream;
    try {
      stream = TcpStream::connect(target.host, *target.port, {.timeout = kConnectMax});
    } catch (const InputOutputError& error) {
      fail(db::sqlstate::kCannotConnect, error.what());
    } catch (const DnsError& error) {
      fail(db::sqlstate::kCannotConnect, error.what());
    } catch (const Timeout&) {
      fail(db::sqlstate::kCannotConnect, "no answer from the server");
    }
    auto line = std::make_shared<Line>(target.text(), std::move(*stream));
    try {
      introduce(*line, target);
    } catch (const db::ConnectionLost& error) {
      const bool known = error.sqlstate() != db::sqlstate::kConnectionLost;
      fail(known ? error.sqlstate() : db::sqlstate::kCannotConnect, line->loss());
    }
    return std::make_unique<DatabaseConnection>(std::move(line));
  }

 private:
  static void introduce(Line& line, const db::Target& target) {
    wire::Writer startup;
    startup.begin(Kind::Startup).text(target.user).text(target.password).text(target.database);
    startup.end();
    const Instant deadline = now() + kConnectMax;
    line.send(startup, deadline);
    understood(line, [&] {
      const Frame frame = line.receive(deadline);
      if (frame.kind != Kind::Ready) line.unexpected(frame);
      wire::Reader fields(frame.fields);
      line.session = fields.u64();
      line.secret = fields.u64();
      fields.end();
    });
  }
};

}  // namespace

std::unique_ptr<db::Driver> make_database_driver() { return std::make_unique<DatabaseDriver>(); }

}  // namespace fermata::sim
