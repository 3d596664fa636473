// SPDX-License-Identifier: Apache-2.0
#include "fermata/db/postgresql/connection.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <array>
#include <utility>

#include "fermata/core/suspend.hpp"
#include "fermata/db/placeholders.hpp"
#include "fermata/db/postgresql/answer.hpp"
#include "fermata/db/postgresql/cells.hpp"
#include "fermata/io/offload.hpp"

namespace fermata::db::postgresql {

namespace {

constexpr Duration kInterruptLimit = std::chrono::seconds(5);
constexpr Duration kAliveAfterAnswer = std::chrono::milliseconds(1);
constexpr Duration kCancelInterval = std::chrono::milliseconds(100);

void require_count(const std::string& database, std::size_t given, std::size_t expected) {
  if (given == expected) return;
  throw ParameterError(database, sqlstate::kBadParameters,
                       fmt::format("{} parameters: expected {}", given, expected));
}

}  // namespace

/// A command under a name at the server.
class LibpqConnection::PreparedCommand final : public Prepared {
 public:
  PreparedCommand(Link& link, std::string name, std::size_t parameters,
                  std::shared_ptr<std::deque<std::string>> forgotten)
      : link_(link),
        name_(std::move(name)),
        parameters_(parameters),
        forgotten_(std::move(forgotten)) {}
  PreparedCommand(const PreparedCommand&) = delete;
  PreparedCommand& operator=(const PreparedCommand&) = delete;
  ~PreparedCommand() override { forgotten_->push_back(std::move(name_)); }

  [[nodiscard]] std::size_t parameter_count() const noexcept override { return parameters_; }

  [[nodiscard]] std::unique_ptr<Answer> execute(Parameters parameters) override {
    require_count(link_.database(), parameters.size(), parameters_);
    const Arguments arguments(link_.database(), parameters);
    link_.send(PQsendQueryPrepared(link_.get(), name_.c_str(), arguments.count(),
                                   arguments.values(), arguments.lengths(), arguments.formats(),
                                   0));
    return std::make_unique<LibpqAnswer>(link_, Fetch::All);
  }

 private:
  Link& link_;
  std::string name_;
  std::size_t parameters_;
  std::shared_ptr<std::deque<std::string>> forgotten_;
};

std::string LibpqConnection::checked(std::string_view sql, std::size_t parameters) const {
  if (sql.find('\0') != std::string_view::npos) {
    throw ParameterError(link_.database(), sqlstate::kBadParameters,
                         "a command with a NUL: expected text without");
  }
  require_count(link_.database(), parameters,
                replace_placeholders(sql, PlaceholderStyle::Numbered).count);
  return std::string(sql);
}

std::unique_ptr<Answer> LibpqConnection::execute(std::string_view sql, Parameters parameters,
                                                 Fetch fetch) {
  const std::string text = checked(sql, parameters.size());
  const Arguments arguments(link_.database(), parameters);
  forget_prepared();
  const int queued =
      PQsendQueryParams(link_.get(), text.c_str(), arguments.count(), arguments.types(),
                        arguments.values(), arguments.lengths(), arguments.formats(), 0);
  if (queued != 0 && fetch == Fetch::ByRows) PQsetSingleRowMode(link_.get());
  link_.send(queued);
  return std::make_unique<LibpqAnswer>(link_, fetch);
}

std::unique_ptr<Prepared> LibpqConnection::prepare(std::string_view sql) {
  const std::size_t count = replace_placeholders(sql, PlaceholderStyle::Numbered).count;
  return prepare(checked(sql, count), count, {});
}

std::unique_ptr<Prepared> LibpqConnection::prepare_like(std::string_view sql,
                                                        Parameters parameters) {
  return prepare(checked(sql, parameters.size()), parameters.size(), parameters);
}

std::unique_ptr<Prepared> LibpqConnection::prepare(const std::string& text, std::size_t count,
                                                   Parameters like) {
  const Arguments arguments(link_.database(), like);
  forget_prepared();
  std::string name = fmt::format("fermata_{}", ++prepared_);
  link_.send(
      PQsendPrepare(link_.get(), name.c_str(), text.c_str(), arguments.count(), arguments.types()));
  link_.only_result();
  return std::make_unique<PreparedCommand>(link_, std::move(name), count, forgotten_);
}

// A name may be gone already: an error is not news, but it would fail a transaction.
void LibpqConnection::forget_prepared() {
  while (!forgotten_->empty() && PQtransactionStatus(link_.get()) == PQTRANS_IDLE) {
    const std::string command = "DEALLOCATE " + forgotten_->front();
    link_.send(
        PQsendQueryParams(link_.get(), command.c_str(), 0, nullptr, nullptr, nullptr, nullptr, 0));
    link_.drain();
    forgotten_->pop_front();
  }
}

bool LibpqConnection::is_stale_plan(std::string_view sqlstate) const noexcept {
  return sqlstate == "0A000" || sqlstate == "26000";
}

// What a command changes shows when it has ended.
TransactionState LibpqConnection::transaction() const noexcept {
  if (link_.is_broken()) return TransactionState::Unknown;
  switch (link_.left_transaction()) {
    case PQTRANS_IDLE:
      return TransactionState::None;
    case PQTRANS_INERROR:
      return TransactionState::Failed;
    case PQTRANS_INTRANS:
      return TransactionState::Open;
    case PQTRANS_ACTIVE:
    case PQTRANS_UNKNOWN:
      break;
  }
  return TransactionState::Unknown;
}

// A look is a call of the system, which tells nothing new of who has just answered.
bool LibpqConnection::looks_alive() noexcept {
  if (now() - link_.answered_at() < kAliveAfterAnswer) return !link_.is_broken();
  pollfd socket = {PQsocket(link_.get()), POLLIN | POLLRDHUP, 0};
  if (!link_.is_broken() && ::poll(&socket, 1, 0) > 0) PQconsumeInput(link_.get());
  return !link_.is_broken() && (socket.revents & (POLLHUP | POLLERR | POLLNVAL | POLLRDHUP)) == 0;
}

void LibpqConnection::reset_session() {
  if (transaction() != TransactionState::None) rollback();
  run("DISCARD ALL");
  forgotten_ = std::make_shared<std::deque<std::string>>();  // Those before are gone.
}

void LibpqConnection::set_attribute(std::string_view name, std::string_view value) {
  const std::array<Cell, 2> parameters = {name, value};
  const auto answer = execute("SELECT set_config($1, $2, false)", parameters, Fetch::All);
}

// A cancel request has a connection of its own and hits whatever runs when it arrives. So a command
// of no interest follows, for it to hit when what it was meant for has ended by itself.
void LibpqConnection::interrupt() {
  const Instant deadline = now() + kInterruptLimit;
  try {
    do {
      if (now() >= deadline) throw Timeout("the command still runs");
      cancel();  // Again, when it has come before the command.
    } while (!drained_within(kCancelInterval));
    link_.limit(deadline);
    link_.send(PQsendQueryParams(link_.get(), "", 0, nullptr, nullptr, nullptr, nullptr, 0));
    link_.drain();
  } catch (const DatabaseError&) {
    link_.mark_broken();
  } catch (const Timeout&) {
    link_.mark_broken();
  } catch (const InputOutputError&) {
    link_.mark_broken();
  }
  link_.limit(std::nullopt);
}

bool LibpqConnection::drained_within(Duration span) {
  link_.limit(now() + span);
  try {
    link_.send(1);
    link_.drain();
    return true;
  } catch (const Timeout&) {
    return false;
  }
}

void LibpqConnection::cancel() {
  struct Free {
    void operator()(PGcancel* request) const noexcept { PQfreeCancel(request); }
  };
  const std::shared_ptr<PGcancel> request(PQgetCancel(link_.get()), Free());
  if (request == nullptr)
    throw ConnectionLost(link_.database(), sqlstate::kConnectionLost, "the connection is gone");
  const bool sent = offload(
      [request] {
        std::array<char, 256> error{};
        return PQcancel(request.get(), error.data(), static_cast<int>(error.size())) != 0;
      },
      {.timeout = kInterruptLimit});
  if (!sent) {
    throw ConnectionLost(link_.database(), sqlstate::kConnectionLost, "a cancel did not arrive");
  }
}

}  // namespace fermata::db::postgresql
