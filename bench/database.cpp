// SPDX-License-Identifier: Apache-2.0

// What sharing a Database costs beside its server: the one here answers at once, in the process. An
// item is a query, and a connection acquired and given back. The floor yields.

#include <benchmark/benchmark.h>

#include <memory>
#include <string>
#include <vector>

#include "bench/floor/yield_between_two.hpp"
#include "bench/on_libuv.hpp"
#include "fermata/db/database.hpp"

namespace {

namespace db = fermata::db;
using bench::yield_between_two;

/// One row with one column.
class One final : public db::Answer {
 public:
  [[nodiscard]] const std::vector<std::string>& columns() const noexcept override {
    static const std::vector<std::string> names = {"one"};
    return names;
  }
  bool next(std::vector<db::Cell>& row) override {
    row.assign(1, std::int64_t{1});
    return left_-- > 0;
  }
  [[nodiscard]] const db::Effect& effect() const noexcept override { return effect_; }

 private:
  int left_ = 1;
  db::Effect effect_;
};

class Instant final : public db::Connection {
 public:
  std::unique_ptr<db::Answer> execute(std::string_view, db::Parameters, db::Fetch) override {
    return std::make_unique<One>();
  }
  std::unique_ptr<db::Prepared> prepare(std::string_view) override { return nullptr; }
  [[nodiscard]] bool is_stale_plan(std::string_view) const noexcept override { return false; }
  [[nodiscard]] db::TransactionState transaction() const noexcept override {
    return db::TransactionState::None;
  }
  [[nodiscard]] bool is_broken() const noexcept override { return false; }
  [[nodiscard]] bool looks_alive() noexcept override { return true; }
  void ping() override {}
  void reset_session() override {}
  void set_attribute(std::string_view, std::string_view) override {}
  void interrupt() override {}
};

class InstantDriver final : public db::Driver {
 public:
  void check(const db::Target&) const override {}
  std::unique_ptr<db::Connection> connect(db::Target) override {
    return std::make_unique<Instant>();
  }
};

template <class Item>
void on_database(benchmark::State& state, Item item) {
  bench::on_libuv([&] {
    db::Database database(std::make_unique<InstantDriver>(), db::parse_url("instant:///here"));
    database.execute("SELECT 1");
    for (auto _ : state) item(database);
  });
  state.SetItemsProcessed(state.iterations());
}

BENCHMARK(yield_between_two)->Name("database_query/floor");
void database_query(benchmark::State& state) {
  on_database(state, [](db::Database& database) {
    benchmark::DoNotOptimize(database.query_one<int>("SELECT 1"));
  });
}
BENCHMARK(database_query)->Name("database_query/fermata");

BENCHMARK(yield_between_two)->Name("database_acquire/floor");
void database_acquire(benchmark::State& state) {
  on_database(state, [](db::Database& database) { database.pool().acquire().release(); });
}
BENCHMARK(database_acquire)->Name("database_acquire/fermata");

}  // namespace
