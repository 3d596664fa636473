// SPDX-License-Identifier: Apache-2.0
#include "fermata/db/postgresql/link.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "fermata/core/suspend.hpp"

namespace fermata::db::postgresql {

namespace {

std::string_view field(const PGresult& result, int code) {
  const char* const text = PQresultErrorField(&result, code);
  return text != nullptr ? std::string_view(text) : std::string_view();
}

/// Without the line feed at its end.
std::string message_of(PGconn* connection) {
  std::string text = PQerrorMessage(connection);
  text.erase(text.find_last_not_of(" \n") + 1);
  return text.empty() ? "the connection has ended" : text;
}

}  // namespace

Link::Link(std::string database, ConnectionHandle handle)
    : database_(std::move(database)), handle_(std::move(handle)) {
  descriptor_.emplace(PQsocket(handle_.get()));
  descriptor_->poll().set_may_be_spurious(true);
}

Link::~Link() {
  descriptor_->close();  // Before its number means something else.
}

PollMask Link::wait(PollMask mask) {
  if (!deadline_) return descriptor_->wait(mask);
  return descriptor_->wait(mask, {.timeout = std::max(Duration::zero(), *deadline_ - now())});
}

void Link::consume() {
  if (PQconsumeInput(get()) == 0) throw_lost();
}

// What the server has said last is a better reason than that it says no more.
void Link::throw_lost() {
  broken_ = true;
  std::string state(sqlstate::kConnectionLost);
  std::string message = message_of(get());
  while (const ResultHandle result{PQgetResult(get())}) {
    const std::string_view said = field(*result, PG_DIAG_SQLSTATE);
    if (said.empty()) break;
    state = said;
    message = field(*result, PG_DIAG_MESSAGE_PRIMARY);
  }
  throw ConnectionLost(database_, state, message);
}

void Link::send(int queued) {
  if (queued == 0) throw_lost();
  while (const int left = PQflush(get())) {
    if (left < 0) throw_lost();
    const PollMask ready = wait(PollMask::Readable | PollMask::Writable);
    if (any(ready & (PollMask::Readable | PollMask::Disconnect))) consume();
  }
}

ResultHandle Link::next_result() {
  while (PQisBusy(get()) != 0) {
    wait(PollMask::Readable);
    consume();
  }
  ResultHandle result(PQgetResult(get()));
  if (result == nullptr) {
    while (PGnotify* const notice = PQnotifies(get())) PQfreemem(notice);
    if (PQstatus(get()) != CONNECTION_OK) throw_lost();
    answered_at_ = now();
    left_ = PQtransactionStatus(get());
    return result;
  }
  const ExecStatusType status = PQresultStatus(result.get());
  if (status == PGRES_COPY_IN || status == PGRES_COPY_OUT || status == PGRES_COPY_BOTH) {
    refuse_copy(status);
  }
  return result;
}

void Link::refuse_copy(ExecStatusType status) {
  if (status == PGRES_COPY_OUT) {
    char* line = nullptr;
    for (int length; (length = PQgetCopyData(get(), &line, 1)) >= 0;) {
      PQfreemem(line);
      if (length > 0) continue;
      wait(PollMask::Readable);
      consume();
    }
  } else {
    send(PQputCopyEnd(get(), "COPY is not for this connection"));
  }
  drain();
  throw QueryError(database_, "0A000", "COPY to or from the client: expected another command");
}

void Link::drain() {
  while (next_result() != nullptr) {
  }
}

ResultHandle Link::only_result() {
  ResultHandle result = next_result();
  if (result == nullptr) throw_lost();
  end(*result);
  return result;
}

// The server commits a command of its own behind its answer, and says then that it cannot.
void Link::end(const PGresult& last) {
  ResultHandle refusal;
  try {
    while (ResultHandle result = next_result()) {
      const bool refuses = PQresultStatus(result.get()) == PGRES_FATAL_ERROR;
      if (refuses && refusal == nullptr) refusal = std::move(result);
    }
  } catch (const ConnectionLost&) {
    check(last);
    throw;
  }
  check(last);
  if (refusal != nullptr) check(*refusal);
}

void Link::check(const PGresult& result) {
  const ExecStatusType status = PQresultStatus(&result);
  if (status != PGRES_FATAL_ERROR && status != PGRES_BAD_RESPONSE) return;
  std::string message(field(result, PG_DIAG_MESSAGE_PRIMARY));
  if (const std::string_view detail = field(result, PG_DIAG_MESSAGE_DETAIL); !detail.empty()) {
    message.append(" (").append(detail).append(")");
  }
  const std::string_view state = field(result, PG_DIAG_SQLSTATE);
  const std::string_view severity = field(result, PG_DIAG_SEVERITY_NONLOCALIZED);
  if (state.empty() || severity == "FATAL" || severity == "PANIC" || is_broken()) {
    broken_ = true;
    if (message.empty()) message = message_of(get());
    throw ConnectionLost(database_, state.empty() ? sqlstate::kConnectionLost : state, message);
  }
  throw QueryError(database_, state, message);
}

}  // namespace fermata::db::postgresql
