// SPDX-License-Identifier: Apache-2.0

// The same on Fermata, written as users write it; `queries` by 64 coroutines that share the
// connections. Usage as that of plain_database.c, and
//   stream_memory URL ROWS   bytes by which the most memory in use grows while rows are read

#include <cstdlib>
#include <string>
#include <string_view>
#include <tuple>

#include "bench/database/commands.h"
#include "bench/io/common.h"
#include "fermata/runtime.hpp"
#include "fermata/db/database.hpp"
#include "fermata/uv/reactor.hpp"

namespace {

namespace db = fermata::db;

constexpr int kCoroutines = 64;

double queries(const char* url, int connections, long total) {
  auto database = db::Database::connect(url, {.max = connections, .statement_cache = 1});
  long left = total;
  const double begin = seconds_now();
  {
    fermata::Scope clients("clients");
    for (int i = 0; i < kCoroutines; ++i) {
      clients.spawn("client", [&] {
        while (left-- > 0) require(database.query_one<int>(kQuery) == 1, kQuery);
      });
    }
    clients.await_completion();
  }
  return static_cast<double>(total) / (seconds_now() - begin);
}

double read_rows(db::Database& database, long rows) {
  using Row = std::tuple<long, std::string>;
  long sum = 0;
  long count = 0;
  const double begin = seconds_now();
  auto stream = database.stream<Row>(kRows, rows);
  while (const auto row = stream.next()) {
    sum += std::get<0>(*row);
    count += std::get<1>(*row).empty() ? 0 : 1;
  }
  require(sum == count * (count + 1) / 2 && count == rows, "rows");
  return static_cast<double>(count) / (seconds_now() - begin);
}

double stream(const char* url, long rows) {
  auto database = db::Database::connect(url);
  return read_rows(database, rows);
}

double most_memory() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024;
}

double stream_memory(const char* url, long rows) {
  constexpr long kFewRows = 1000;
  auto database = db::Database::connect(url);
  read_rows(database, kFewRows);
  const double before = most_memory();
  read_rows(database, rows);
  return most_memory() - before;
}

double sqlite(const std::string& path, long total) {
  auto database = db::Database::connect("sqlite:///" + path, {.max = 1});
  const double begin = seconds_now();
  for (long i = 0; i < total; ++i) {
    require(database.query_one<long>(kSum, kTerms) == kTerms * (kTerms + 1) / 2, "sum");
  }
  return static_cast<double>(total) / (seconds_now() - begin);
}

}  // namespace

int main(int argc, char** argv) {
  alarm(kSecondsMax);
  const std::string_view what = argc > 1 ? argv[1] : "";
  fermata::Runtime runtime(fermata::uv::make_reactor());
  return runtime.run([&] {
    double value = 0;
    if (argc == 5 && what == "queries") {
      value = queries(argv[2], std::atoi(argv[3]), std::atol(argv[4]));
    } else if (argc == 4 && what == "stream") {
      value = stream(argv[2], std::atol(argv[3]));
    } else if (argc == 4 && what == "stream_memory") {
      value = stream_memory(argv[2], std::atol(argv[3]));
    } else if (argc == 4 && what == "sqlite") {
      value = sqlite(argv[2], std::atol(argv[3]));
    } else {
      return 2;
    }
    std::printf("%.1f\n", value);
    return 0;
  });
}
