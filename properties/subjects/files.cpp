// SPDX-License-Identifier: Apache-2.0

// Three files that the actors share: one with places, one that grows at its end, and one that is
// used at its handle's position.

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <utility>
#include <vector>

#include "fermata/runtime.hpp"
#include "properties/models/file_model.hpp"
#include "properties/models/log_model.hpp"
#include "properties/scripts/law.hpp"
#include "properties/subjects/disk.hpp"
#include "properties/subjects/listed.hpp"

namespace fermata::properties {
namespace {
namespace files {

using std::chrono::seconds;

constexpr OpenMode kAppending{.read = true, .write = true, .create = true, .append = true};
constexpr std::array<std::size_t, 5> kSizes = {1, 3, 40, 700, 5'000};
constexpr std::size_t kPlaces = 300;  // Apart: writes of 700 and more overlap.

class Files final : public Subject {
 public:
  static constexpr auto operations() {
    return std::to_array<Operation>({
        {8, "write at", does<&Files::write_at>},
        {8, "read at", does<&Files::read_at>},
        {3, "size", does<&Files::tell_size>},
        {2, "set size", does<&Files::set_size>},
        {2, "sync", does<&Files::sync>},
        {6, "append", does<&Files::append>},
        {5, "write on", does<&Files::write_on>},
        {4, "read on", does<&Files::read_on>},
        {2, "seek", does<&Files::seek_to>},
        {1, "close", does<&Files::close>},
    });
  }

  explicit Files(Stage& on)
      : Subject(on),
        data_(open("/data", OpenMode::updating())),
        log_(open("/log", kAppending)),
        tape_(open("/tape", OpenMode::updating())) {}

  void at_rest() override {
    if (current_runtime().reactor().files().in_flight() > 0) {
      stage.complain("IO-01 (REF): nothing can happen any more, and an operation is in flight");
    }
  }

  void let_go() override {
    for (File* file : {&data_, &log_, &tape_}) file->close();
    delay(seconds(10));  // What had begun goes on.
    stage.complain(log_model_.contents(contents("/log")));
    stage.complain(data_model_.read_in_line(data_model_.now(), 0, contents("/data")));
    stage.complain(tape_model_.read_in_line(tape_model_.now(), 0, contents("/tape")));
  }

  void at_end() override {
    for (const auto& [buffer, as_it_was] : abandoned_) {
      if (buffer != as_it_was) {
        stage.complain("IO-08 (UAF): a read wrote into the buffer of somebody who had left");
      }
    }
  }

 private:
  using Buffer = std::vector<std::byte>;

  [[nodiscard]] static std::size_t size_of(const Cue& cue) {
    return kSizes[(cue.actor + cue.number) % kSizes.size()];
  }
  [[nodiscard]] static std::size_t place_of(const Cue& cue) {
    return (cue.actor * 3 + cue.number) % 16 * kPlaces;
  }

  // --- the file with places ---

  void write_at(const Cue& cue) {
    const auto write = data_model_.begin(place_of(cue), size_of(cue));
    const Buffer bytes = data_model_.bytes_of(write);
    unless_it_fails(data_, [&] {
      data_.write_at(place_of(cue), bytes, cue.patience);
      data_model_.done(write);
    });
  }

  void read_at(const Cue& cue) {
    const auto moment = data_model_.now();
    const std::size_t place = place_of(cue);
    Buffer buffer(size_of(cue));
    unless_it_fails(data_, [&] {
      const std::size_t count =
          read(buffer, [&] { return data_.read_at(place, buffer, cue.patience); });
      stage.complain(data_model_.read_aside(moment, place, std::span(buffer).first(count)));
    });
  }

  void tell_size(const Cue& cue) {
    const auto moment = data_model_.now();
    unless_it_fails(
        data_, [&] { stage.complain(data_model_.size_told(moment, data_.size(cue.patience))); });
  }

  void set_size(const Cue& cue) {
    const auto write = data_model_.begin_to_set_size(place_of(cue));
    unless_it_fails(data_, [&] {
      data_.truncate(place_of(cue), cue.patience);
      data_model_.done(write);
    });
  }

  void sync(const Cue& cue) {
    File& file = cue.number % 2 == 0 ? data_ : log_;
    unless_it_fails(file, [&] { file.sync(SyncMode::All, cue.patience); });
  }

  // --- the one that grows ---

  void append(const Cue& cue) {
    const auto record = log_model_.begin(size_of(cue));
    const Buffer bytes = log_model_.bytes_of(record);
    unless_it_fails(log_, [&] {
      log_.write(bytes, cue.patience);
      log_model_.done(record);
    });
  }

  // --- the one that is used at its position ---

  /// By one at a time.
  template <class Use>
  void use_tape(Use use) {
    if (tape_users_ > 0 || !tape_.is_open()) return;
    if (tape_.position() != position_) {
      stage.complain(
          fmt::format("IO-10 (VAL): the position is {}, expected {}", tape_.position(), position_));
    }
    const Counted counted(tape_users_);
    unless_it_fails(tape_, use);
  }

  void seek_to(const Cue& cue) {
    use_tape([&] { seek(place_of(cue)); });
  }
  void seek(std::size_t place) {
    tape_.seek(place);
    position_ = place;
  }

  void write_on(const Cue& cue) {
    use_tape([&] { write_tape(size_of(cue), cue.patience); });
  }
  void write_tape(std::size_t size, const WaitOptions& options) {
    const auto write = tape_model_.begin(position_, size);
    const Buffer bytes = tape_model_.bytes_of(write);
    try {
      tape_.write(bytes, options);
    } catch (const InputOutputError&) {
      if (!tape_.is_open()) throw;
      const std::size_t moved = tape_.position() - position_;
      if (moved >= size) stage.complain("IO-10 (VAL): a write failed, and has moved its end by");
      position_ += moved;
      throw;
    } catch (...) {
      if (tape_.is_open()) seek(position_);  // It may move the position yet.
      throw;
    }
    tape_model_.done(write);
    position_ += size;
  }

  void read_on(const Cue& cue) {
    use_tape([&] { read_tape(size_of(cue), cue.patience); });
  }
  void read_tape(std::size_t size, const WaitOptions& options) {
    const auto moment = tape_model_.now();
    Buffer buffer(size);
    const std::size_t count = read(buffer, [&] { return tape_.read(buffer, options); });
    stage.complain(tape_model_.read_in_line(moment, position_, std::span(buffer).first(count)));
    position_ += count;
  }

  // --- all ---

  /// What `action` reads into `buffer`. One that is interrupted leaves it alone.
  template <class Action>
  std::size_t read(Buffer& buffer, Action action) {
    try {
      return action();
    } catch (const InputOutputError&) {
      throw;
    } catch (...) {
      Buffer as_it_was = buffer;
      abandoned_.emplace_back(std::move(buffer), std::move(as_it_was));
      throw;
    }
  }

  void close(const Cue& cue) {
    if (cue.number >= 6) return;
    (cue.number < 2 ? data_ : cue.number < 4 ? log_ : tape_).close();
  }

  /// What fails of `file` has a cause: it is closed, or the disk has failed.
  template <class Action>
  void unless_it_fails(File& file, Action action) {
    const Causes::Beginning begun = stage.causes().begin();
    try {
      action();
    } catch (const InputOutputError& error) {
      if (!is_explained(file, error.code(), begun)) {
        stage.complain(fmt::format("ERR: the disk is well, but: {}", error.what()));
      }
    }
  }
  [[nodiscard]] bool is_explained(const File& file, int code, const Causes::Beginning& begun) {
    if (code == EIO) return stage.causes().explain(sim::Fault::DiskError, begun);
    if (code == ENOSPC) return stage.causes().explain(sim::Fault::DiskFull, begun);
    return code == 0 && !file.is_open();
  }

  File data_, log_, tape_;
  models::FileModel data_model_, tape_model_;
  models::LogModel log_model_;
  std::size_t position_ = 0;  // Of the tape.
  std::size_t tape_users_ = 0;
  std::vector<std::pair<Buffer, Buffer>> abandoned_;  // And what was in them.
};

}  // namespace files
}  // namespace

constinit const Law kFiles = {
    "files",
    "files have what was written to them, in the order of the calls, and nothing else",
    {"G-05", "IO-01", "IO-05", "IO-08", "IO-10"},
    &scripts_over<files::Files>};

}  // namespace fermata::properties
