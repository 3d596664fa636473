// SPDX-License-Identifier: Apache-2.0

// Machines in a network: one keeps a journal, each actor has another one append to it and read it.
// All of them may go down at any moment, and stop for a while. What was confirmed survives; whoever
// talks with a machine that goes down gets a reset, or silence, never an end.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "fermata/runtime.hpp"
#include "properties/models/journal_model.hpp"
#include "properties/scripts/law.hpp"
#include "properties/subjects/journal.hpp"

namespace fermata::properties {
namespace {
namespace recovery {

using journal::Header;
using journal::What;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::array<std::size_t, 4> kSizes = {1, 20, 300, 3'000};
constexpr Duration kPatience = milliseconds(500);
constexpr Duration kLongestPause = seconds(2);

/// What all machines share with those who look on. It knows no runtime.
struct Records {
  explicit Records(sim::World& w) : world(w) {}

  sim::World& world;
  models::JournalModel model;
  std::set<Address> ended;  // Clients whose connection the server has ended in order.

  void complain(const models::Complaint& complaint) const {
    if (!complaint.empty()) world.fail(sim::Verdict::Safety, complaint);
  }
};

/// The program of a machine that talks to the journal's, on one connection as long as that holds.
class Client {
 public:
  enum class Task : std::uint8_t { Append, AppendOnce, Read };
  struct Job {
    Task task;
    std::size_t size;
  };

  Client(std::shared_ptr<Records> records, Address server)
      : records_(std::move(records)), server_(server) {}

  void ask(const Job& job) { jobs_.push_back(job); }
  void end() { ending_ = true; }
  [[nodiscard]] bool is_done() const { return jobs_.empty() && !busy_; }

  void run() {
    std::optional<TcpStream> connection;
    busy_ = false;
    Duration pause = milliseconds(1);
    while (!ending_) {
      pause = jobs_.empty() ? std::min<Duration>(pause * 2, kLongestPause) : milliseconds(1);
      while (!jobs_.empty()) {
        const Job job = jobs_.front();
        jobs_.pop_front();
        busy_ = true;
        carry_out(connection, job);
        busy_ = false;
      }
      delay(pause);
    }
  }

 private:
  void carry_out(std::optional<TcpStream>& connection, const Job& job) {
    if (job.task == Task::Read) return read(connection);
    const models::JournalModel::Entry entry = records_->model.begin(job.size);
    const std::vector<std::byte> bytes = records_->model.bytes_of(entry);
    while (true) {
      const auto answer = question(connection, {What::Append, entry}, bytes);
      if (answer) return records_->complain(records_->model.confirmed(entry, answer->number));
      if (job.task == Task::AppendOnce) return;
      delay(milliseconds(20));
    }
  }

  void read(std::optional<TcpStream>& connection) {
    const std::size_t known = records_->model.known_length();
    std::vector<std::byte> text;
    if (!question(connection, {What::Read}, {}, &text)) return;
    std::vector<models::JournalModel::Found> found;
    for (std::span<const std::byte> rest(text); !rest.empty();) {
      Header header;
      std::memcpy(&header, rest.data(), sizeof(header));
      found.push_back({header.number, rest.subspan(sizeof(header), header.size)});
      rest = rest.subspan(sizeof(header) + header.size);
    }
    records_->complain(records_->model.read(known, found));
  }

  /// Nothing when there is no answer: then the connection is given up.
  std::optional<Header> question(std::optional<TcpStream>& connection, const Header& header,
                                 std::span<const std::byte> bytes,
                                 std::vector<std::byte>* text = nullptr) {
    try {
      if (!connection) {
        connection = TcpStream::connect(server_, {.timeout = kPatience});
        records_->ended.erase(connection->local_address());
      }
      journal::send(*connection, header, bytes, {.timeout = kPatience});
      Header answer;
      fill(*connection, std::as_writable_bytes(std::span(&answer, 1)));
      if (answer.what != header.what) records_->complain("VAL: an answer to something else");
      std::vector<std::byte> rest(answer.size);
      fill(*connection, rest);
      if (text != nullptr) *text = std::move(rest);
      return answer;
    } catch (const InputOutputError&) {
    } catch (const Timeout&) {
    }
    connection.reset();
    return std::nullopt;
  }

  void fill(TcpStream& stream, std::span<std::byte> buffer) {
    while (!buffer.empty()) {
      const std::size_t count = stream.read(buffer, {.timeout = kPatience});
      if (count == 0) {
        if (!records_->ended.contains(stream.local_address())) {
          records_->complain("ERR: a connection ends in order that nobody has ended");
        }
        throw InputOutputError("no answer");
      }
      buffer = buffer.subspan(count);
    }
  }

  std::shared_ptr<Records> records_;
  Address server_;
  std::deque<Job> jobs_;
  bool busy_ = false;
  bool ending_ = false;
};

class Recovery final : public Subject {
 public:
  static constexpr auto operations() {
    return std::to_array<Operation>({
        {10, "append", does<&Recovery::ask, Client::Task::Append>},
        {3, "append once", does<&Recovery::ask, Client::Task::AppendOnce>},
        {5, "read", does<&Recovery::ask, Client::Task::Read>},
        {1, "crash the server", does<&Recovery::crash_server>},
        {1, "crash", does<&Recovery::crash_client>},
    });
  }

  explicit Recovery(Stage& on) : Subject(on), records_(std::make_shared<Records>(on.world())) {
    server_ = &on.world().service("server", [records = records_] {
      journal::serve([records](const Address& client) { records->ended.insert(client); });
    });
    server_->may_crash().may_pause();
    for (std::size_t i = 0; i < on.actor_count(); ++i) {
      auto client = std::make_shared<Client>(records_, server_->address(journal::kPort));
      sim::Node& node = on.world().node(fmt::format("client {}", i), [client] { client->run(); });
      clients_.push_back({std::move(client), &node.may_crash().may_pause()});
    }
  }

  void perform(const Operation& operation, const Cue& cue) override {
    if (is_ending) return;
    Subject::perform(operation, cue);
    delay(milliseconds(cue.number % 4));
  }

  // When all is well again everybody gets an answer; and once more after a last crash.
  void let_go() override {
    is_ending = true;
    stage.world().heal();
    delay(seconds(60));
    for (const Peer& client : clients_) {
      if (!client.program->is_done()) stage.complain("WAKE: nothing goes wrong, and no answer");
    }
    crash(*server_, milliseconds(1));
    for (const Peer& client : clients_) client.program->ask({Client::Task::Read, 0});
    delay(seconds(10));
    for (const Peer& client : clients_) client.program->end();
    stage.world().run();
  }

 private:
  struct Peer {
    std::shared_ptr<Client> program;
    sim::Node* node;
  };

  void ask(const Cue& cue, Client::Task task) {
    clients_[cue.actor].program->ask({task, kSizes[(cue.actor + cue.number) % kSizes.size()]});
  }

  void crash_server(const Cue& cue) { crash(*server_, milliseconds(cue.number * 3)); }
  void crash_client(const Cue& cue) {
    crash(*clients_[cue.actor].node, milliseconds(cue.number * 3));
  }
  // By the time it is to happen the machine may have done the same by itself.
  void crash(sim::Node& node, Duration down) {
    const auto crash = [&node] {
      if (node.is_up()) node.crash();
    };
    const auto restart = [&node] {
      if (!node.is_up()) node.restart();
    };
    stage.world().at(Duration::zero(), crash);
    stage.world().at(down, restart);
  }

  std::shared_ptr<Records> records_;
  sim::Node* server_ = nullptr;
  std::vector<Peer> clients_;
};

}  // namespace recovery
}  // namespace

constinit const Law kRecovery = {
    "recovery",
    "what a machine has confirmed survives its crashes, and its peers see a reset or silence",
    {"G-05", "G-09"},
    &scripts_over<recovery::Recovery>};

}  // namespace fermata::properties
