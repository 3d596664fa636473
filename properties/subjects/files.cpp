// SPDX-License-Identifier: Apache-2.0

// Three files that the actors share: one with places, one that grows at its end, and one that is
// used at its handle's position.

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <utility>
#include <vector>

#include "fermata/runtime.hpp"
#include "properties/models/file_model.hpp"
#include "properties/models/log_model.hpp"
#include "properties/scripts/law.hpp"
#include "properties/subjects/disk.hpp"

namespace fermata::properties {
namespace {
namespace files {

using std::chrono::seconds;

enum Operations : std::uint8_t {
  kWriteAt,
  kReadAt,
  kSize,
  kSync,
  kAppend,
  kTapeWrite,
  kTapeRead,
  kTapeSeek,
  kClose,
};
constexpr std::array kOperations = {8 * "write at"_op, 8 * "read at"_op, 3 * "size"_op,
                                    2 * "sync"_op,     6 * "append"_op,  5 * "write on"_op,
                                    4 * "read on"_op,  2 * "seek"_op,    1 * "close"_op};

constexpr OpenMode kAppending{.read = true, .write = true, .create = true, .append = true};
constexpr std::array<std::size_t, 5> kSizes = {1, 3, 40, 700, 5'000};
constexpr std::size_t kPlaces = 300;  // Apart: writes of 700 and more overlap.

class Files final : public Subject {
 public:
  explicit Files(Stage& on)
      : Subject(on),
        data_(open("/data", OpenMode::updating())),
        log_(open("/log", kAppending)),
        tape_(open("/tape", OpenMode::updating())) {}

  void perform(std::size_t actor, const Step& step) override {
    const std::size_t size = kSizes[(actor + step.number) % kSizes.size()];
    const std::size_t place = (actor * 3 + step.number) % 16 * kPlaces;
    const WaitOptions options = stage.patience(step.number);
    try {
      switch (operation_of(step)) {
        case kWriteAt:
          return write_at(place, size, options);
        case kReadAt:
          return read_at(place, size, options);
        case kSize:
          return tell_size(options);
        case kSync:
          return (step.number % 2 == 0 ? data_ : log_).sync(SyncMode::All, options);
        case kAppend:
          return append(size, options);
        case kTapeWrite:
        case kTapeRead:
        case kTapeSeek:
          return use_tape(operation_of(step), place, size, options);
        case kClose:
          return close(step.number);
      }
    } catch (const InputOutputError& error) {
      check_reason(error);
    }
  }

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

  // --- the file with places ---

  void write_at(std::size_t place, std::size_t size, const WaitOptions& options) {
    const auto write = data_model_.begin(place, size);
    const Buffer bytes = data_model_.bytes_of(write);
    data_.write_at(place, bytes, options);
    data_model_.done(write);
  }

  void read_at(std::size_t place, std::size_t size, const WaitOptions& options) {
    const auto moment = data_model_.now();
    Buffer buffer(size);
    const std::size_t count = read(buffer, [&] { return data_.read_at(place, buffer, options); });
    stage.complain(data_model_.read_aside(moment, place, std::span(buffer).first(count)));
  }

  void tell_size(const WaitOptions& options) {
    const auto moment = data_model_.now();
    stage.complain(data_model_.size_told(moment, data_.size(options)));
  }

  // --- the one that grows ---

  void append(std::size_t size, const WaitOptions& options) {
    const auto record = log_model_.begin(size);
    const Buffer bytes = log_model_.bytes_of(record);
    log_.write(bytes, options);
    log_model_.done(record);
  }

  // --- the one that is used at its position ---

  /// By one at a time.
  void use_tape(std::size_t how, std::size_t place, std::size_t size, const WaitOptions& options) {
    if (tape_in_use_ || !tape_.is_open()) return;
    if (tape_.position() != position_) {
      stage.complain(
          fmt::format("IO-10 (VAL): the position is {}, expected {}", tape_.position(), position_));
    }
    struct Use {
      bool& flag;
      explicit Use(bool& f) : flag(f) { flag = true; }
      ~Use() { flag = false; }
    } const use{tape_in_use_};
    if (how == kTapeSeek) return seek(place);
    return how == kTapeWrite ? write_on(size, options) : read_on(size, options);
  }

  void seek(std::size_t place) {
    tape_.seek(place);
    position_ = place;
  }

  void write_on(std::size_t size, const WaitOptions& options) {
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

  void read_on(std::size_t size, const WaitOptions& options) {
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

  void close(std::uint8_t number) {
    if (number >= 6) return;
    (number < 2 ? data_ : number < 4 ? log_ : tape_).close();
  }

  void check_reason(const InputOutputError& error) {
    const bool closed = !data_.is_open() || !log_.is_open() || !tape_.is_open();
    if (closed || stage.struck(sim::Fault::DiskError) || stage.struck(sim::Fault::DiskFull)) return;
    stage.complain(fmt::format("ERR: the disk is well, but: {}", error.what()));
  }

  File data_, log_, tape_;
  models::FileModel data_model_, tape_model_;
  models::LogModel log_model_;
  std::size_t position_ = 0;  // Of the tape.
  bool tape_in_use_ = false;
  std::vector<std::pair<Buffer, Buffer>> abandoned_;  // And what was in them.
};

}  // namespace files
}  // namespace

constinit const Law kFiles = {
    "files",
    "files have what was written to them, in the order of the calls, and nothing else",
    {"G-05", "IO-01", "IO-05", "IO-08", "IO-10"},
    &scripts_over<files::Files, files::kOperations>};

}  // namespace fermata::properties
