// SPDX-License-Identifier: Apache-2.0

// The floor: the databases' own C libraries, in one thread. Prints one number. Usage:
//   queries URL CONNECTIONS QUERIES   commands in a second, one at a time on each connection
//   stream URL ROWS                   rows in a second, read one by one
//   sqlite FILE QUERIES               commands in a second, of some 300 us each

#include <libpq-fe.h>
#include <poll.h>
#include <sqlite3.h>

#include "bench/database/commands.h"
#include "bench/io/common.h"

enum { kConnectionsMax = 64 };

static PGconn* connected(const char* url) {
  PGconn* connection = PQconnectdb(url);
  require(PQstatus(connection) == CONNECTION_OK, PQerrorMessage(connection));
  return connection;
}

static void check(int holds, PGconn* connection) { require(holds, PQerrorMessage(connection)); }

/// Reads what has come; whether the command has been answered to its end.
static int answered(PGconn* connection) {
  check(PQconsumeInput(connection), connection);
  while (!PQisBusy(connection)) {
    PGresult* result = PQgetResult(connection);
    if (result == NULL) return 1;
    check(PQresultStatus(result) == PGRES_TUPLES_OK, connection);
    require(atoi(PQgetvalue(result, 0, 0)) == 1, "SELECT 1");
    PQclear(result);
  }
  return 0;
}

static double queries(const char* url, int count, long total) {
  PGconn* connections[kConnectionsMax];
  struct pollfd sockets[kConnectionsMax];
  require(count <= kConnectionsMax, "connections");
  for (int i = 0; i < count; ++i) {
    connections[i] = connected(url);
    require(PQsetnonblocking(connections[i], 1) == 0, "PQsetnonblocking");
    sockets[i] = (struct pollfd){PQsocket(connections[i]), POLLIN, 0};
  }
  const double begin = seconds_now();
  long sent = 0;
  long done = 0;
  for (; sent < count; ++sent) check(PQsendQuery(connections[sent], kQuery), connections[sent]);
  while (done < total) {
    require(poll(sockets, (nfds_t)count, -1) > 0, "poll");
    for (int i = 0; i < count; ++i) {
      if (sockets[i].revents == 0 || !answered(connections[i])) continue;
      ++done;
      if (sent++ < total) check(PQsendQuery(connections[i], kQuery), connections[i]);
    }
  }
  return (double)total / (seconds_now() - begin);
}

static double stream(const char* url, const char* rows) {
  PGconn* connection = connected(url);
  const char* parameters[] = {rows};
  long sum = 0;
  long count = 0;
  const double begin = seconds_now();
  check(PQsendQueryParams(connection, kRows, 1, NULL, parameters, NULL, NULL, 0), connection);
  check(PQsetSingleRowMode(connection), connection);
  for (PGresult* row; (row = PQgetResult(connection)) != NULL; PQclear(row)) {
    if (PQresultStatus(row) != PGRES_SINGLE_TUPLE) continue;
    sum += atol(PQgetvalue(row, 0, 0));
    count += PQgetlength(row, 0, 1) > 0;
  }
  require(sum == count * (count + 1) / 2 && count == atol(rows), "rows");
  return (double)count / (seconds_now() - begin);
}

static double sqlite(const char* path, long total) {
  sqlite3* database;
  sqlite3_stmt* statement;
  require(sqlite3_open(path, &database) == SQLITE_OK, "sqlite3_open");
  require(sqlite3_prepare_v2(database, kSum, -1, &statement, NULL) == SQLITE_OK, "sqlite3_prepare");
  const double begin = seconds_now();
  for (long i = 0; i < total; ++i) {
    sqlite3_bind_int64(statement, 1, kTerms);
    require(sqlite3_step(statement) == SQLITE_ROW, "sqlite3_step");
    require(sqlite3_column_int64(statement, 0) == kTerms * (kTerms + 1) / 2, "sum");
    require(sqlite3_step(statement) == SQLITE_DONE, "sqlite3_step");
    sqlite3_reset(statement);
  }
  return (double)total / (seconds_now() - begin);
}

int main(int argc, char** argv) {
  double value;
  alarm(kSecondsMax);
  if (argc == 5 && strcmp(argv[1], "queries") == 0) {
    value = queries(argv[2], atoi(argv[3]), atol(argv[4]));
  } else if (argc == 4 && strcmp(argv[1], "stream") == 0) {
    value = stream(argv[2], argv[3]);
  } else if (argc == 4 && strcmp(argv[1], "sqlite") == 0) {
    value = sqlite(argv[2], atol(argv[3]));
  } else {
    return 2;
  }
  printf("%.1f\n", value);
  return 0;
}
