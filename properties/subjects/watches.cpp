// SPDX-License-Identifier: Apache-2.0

// Watches of files and folders, whose events the actors take while a hand makes, writes, moves and
// removes what is watched.

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fermata/io/file_watcher.hpp"
#include "fermata/runtime.hpp"
#include "properties/models/event_buffer_model.hpp"
#include "properties/models/watch_model.hpp"
#include "properties/scripts/law.hpp"
#include "properties/subjects/hand.hpp"
#include "properties/subjects/listed.hpp"

namespace fermata::properties {
namespace {
namespace watches {

using models::EventBufferModel;
using models::WatchModel;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::size_t kMost = 4;  // Watches.
constexpr const char* kSingleFile = "/s/one.conf";
/// Longer than anything that has begun goes on.
constexpr Duration kSettling = seconds(60);

unsigned bits_of(FileChange change) { return static_cast<unsigned>(change); }

struct Watch {
  Watch(WatchModel m, EventBufferModel b) : model(std::move(m)), buffer(std::move(b)) {}

  std::optional<FileWatcher> watcher;  // Empty before it is open.
  WatchModel model;
  EventBufferModel buffer;
  Subscription subscription;
  std::vector<std::size_t> takers;
  bool has_failed = false;

  [[nodiscard]] bool is_ended() const { return watcher->handle().is_ended(); }
};

class Watches final : public Subject, private Hand::Witness {
 public:
  static constexpr auto operations() {
    return std::to_array<Operation>({
        {10, "write", does<&Watches::change, Hand::kWrite>},
        {5, "make a directory", does<&Watches::change, Hand::kMakeDirectory>},
        {4, "remove", does<&Watches::change, Hand::kRemove>},
        {5, "rename", does<&Watches::change, Hand::kRename>},
        {8, "next", does<&Watches::take_next>},
        {3, "take all", does<&Watches::take_what_is_there>},
        {2, "open", does<&Watches::open_another>},
        {1, "close", does<&Watches::close_one>},
    });
  }

  explicit Watches(Stage& on) : Subject(on), hand_(*this) {
    idle_activity_ = current_runtime().active_event_count();
    for (const char* path : {"/w", "/w/a", "/w/a/b", "/x", "/s"}) hand_.make_directory(path);
    for (const char* path : {"/w/note.txt", "/w/a/main.conf", kSingleFile}) hand_.write(path);
    const std::size_t count = 1 + on.script().shape[0] % 3u;
    for (std::size_t i = 0; i < count; ++i) open(on.script().shape[1 + i] + i * 5, {});
  }

  /// A watch, if there is any.
  template <class Use>
  void choose(const Cue& cue, Use use) {
    if (watches_.empty()) return;
    const std::shared_ptr<Watch> watch = watches_[number_of(cue) % watches_.size()];
    use(*watch);
  }

  void at_rest() override {
    bool busy = false;
    for (const auto& watch : watches_) {
      busy = busy || !watch->takers.empty() || !watch->watcher;
      for (const std::size_t taker : watch->takers) {
        if (stage.parked(taker)) stage.complain(why_wait_should_end(*watch));
      }
    }
    if (!busy && hand_.is_idle() && current_runtime().active_event_count() != idle_activity_) {
      stage.complain("IO-15 (STOP): watches that nobody waits for count as activity");
    }
  }

  void let_go() override {
    is_ending = true;
    hand_.finish();
    settle();
    touch_everything();
    settle();
    for (const auto& watch : watches_) {
      close(*watch);
      take_all(*watch);
    }
  }

  void at_end() override {
    for (const auto& watch : watches_) {
      stage.complain(watch->model.settled(hand_.tree(), lossy()));
      if (next(0, *watch, {})) stage.complain("FS-04 (ONCE): something is told after the end");
      watch->subscription.cancel();
    }
    watches_.clear();
    delay(seconds(1));
    if (current_runtime().active_event_count() != idle_activity_) {
      stage.complain("CLOSE-01 (REF): activity is left over");
    }
  }

 private:
  [[nodiscard]] static std::size_t number_of(const Cue& cue) { return cue.actor * 5 + cue.number; }

  void change(const Cue& cue, Hand::What what) {
    hand_.begin({what, number_of(cue), jobs_++});
    delay(milliseconds(cue.number % 4));
  }

  // --- opening and closing ---

  void open_another(const Cue& cue) {
    if (watches_.size() < kMost) open(number_of(cue) + jobs_++, cue.patience);
  }

  void open(std::size_t number, const WaitOptions& options) {
    constexpr std::array<const char*, 6> kRoots = {"/w", "/w", "/x", "/w/a", "/w", kSingleFile};
    const bool is_file = number % kRoots.size() == 5;
    FileWatcherOptions how{.recursive = !is_file && number % 7 < 5, .coalesce = number % 5 < 3};
    if (number % 4 == 3) how.debounce = milliseconds(20);
    if (number % 8 == 7) how.max_hold = milliseconds(50);
    if (number % 9 >= 6) how.extensions = {".CONF"};
    const std::string extension = how.extensions.empty() ? "" : "conf";
    const char* root = kRoots[number % kRoots.size()];
    const auto watch = std::make_shared<Watch>(WatchModel({.root = root,
                                                           .is_file = is_file,
                                                           .recursive = how.recursive,
                                                           .extension = extension,
                                                           .nameless = how.debounce.has_value()},
                                                          hand_.tick()),
                                               EventBufferModel({.coalesces = how.coalesce,
                                                                 .debounce = how.debounce,
                                                                 .max_hold = how.max_hold,
                                                                 .extension = extension}));
    watches_.push_back(watch);
    try {
      watch->watcher.emplace(root, how, options);
    } catch (const InputOutputError& error) {
      forget(watch);
      const bool missing = error.code() == ENOENT && is_right(error, root);
      const bool is_gone = watch->model.is_root_gone() || hand_.tree().find(root) == nullptr;
      if (missing && (is_gone || !hand_.is_idle())) return;
      return stage.complain(fmt::format("ERR: a watch cannot be opened: {}", error.what()));
    } catch (...) {
      forget(watch);
      throw;
    }
    if (how.recursive) watch->buffer.missed_some();
    watch->subscription = subscribe(
        watch->watcher->handle(), [at = watch.get()](Event&, const fermata::Outcome& outcome) {
          const auto& event = *static_cast<const FileEvent*>(outcome.result);
          at->buffer.added({event.name, bits_of(event.change)}, now());
        });
    watch->model.ready(hand_.tick());
  }

  void forget(const std::shared_ptr<Watch>& watch) { std::erase(watches_, watch); }

  void close_one(const Cue& cue, Watch& watch) {
    if (cue.number % 4 == 0) close(watch);
  }
  void close(Watch& watch) {
    if (!watch.watcher) return;
    watch.watcher->close();
    watch.model.closed();
    for (const std::size_t taker : watch.takers) {
      if (stage.parked(taker)) stage.complain("FS-04 (WAKE): closing left somebody asleep");
    }
  }

  // --- taking ---

  void take_next(const Cue& cue, Watch& watch) { next(cue.actor, watch, cue.patience); }
  void take_what_is_there(const Cue& cue, Watch& watch) {
    while (next(cue.actor, watch, {.timeout = Duration::zero()})) {
    }
  }

  /// Whether there was an event.
  bool next(std::size_t actor, Watch& watch, const WaitOptions& options) {
    if (!watch.watcher) return false;
    const Listed listed(watch.takers, actor);
    const Instant asked = now();
    const bool had_ended = watch.is_ended();
    const bool was_due = watch.buffer.has_due(asked, had_ended);
    const std::uint64_t additions = watch.buffer.additions();
    try {
      const std::optional<FileEvent> event = watch.watcher->next(options);
      if (event) {
        took(watch, *event, asked);
      } else {
        finished(watch);
      }
      return event.has_value();
    } catch (const Timeout&) {
      if (was_due) stage.complain("FS-01 (WAKE): somebody waited in vain beside an event");
      if (had_ended) stage.complain("FS-04 (WAKE): somebody waited in vain at the end");
      if (options.timeout == Duration::zero()) watch.buffer.found_empty(additions);
      return false;
    } catch (const InputOutputError& error) {
      failed(watch, error);
      return false;
    }
  }

  void took(Watch& watch, const FileEvent& event, Instant asked) {
    const unsigned bits = bits_of(event.change);
    stage.complain(watch.buffer.taken({event.name, bits}, asked, now(), watch.is_ended(),
                                      !stage.struck(sim::Fault::Pause)));
    stage.complain(watch.model.told(event.name, bits, hand_.tick(), lossy()));
  }

  void finished(Watch& watch) {
    if (!watch.model.is_closed()) {
      stage.complain("FS-04 (ERR): an open watch says that it is closed");
    }
    stage.complain(watch.buffer.finished());
  }

  void failed(Watch& watch, const InputOutputError& error) {
    watch.has_failed = true;
    if (watch.model.is_closed() || !is_right(error, watch.model.scope().root)) {
      stage.complain(fmt::format("FS-04 (ERR): a watch fails with {}", error.what()));
    }
    stage.complain(watch.buffer.finished());
  }

  static bool is_right(const InputOutputError& error, const std::string& root) {
    return error.code() == ENOENT &&
           error.what() == fmt::format("watch {}: No such file or directory", root);
  }

  void take_all(Watch& watch) {
    while (next(stage.actor_count(), watch, {.timeout = seconds(1)})) {
    }
  }

  // --- at the end of it all ---

  void settle() {
    delay(kSettling);
    const auto all = watches_;
    for (const auto& watch : all) {
      take_all(*watch);
      stage.complain(watch->model.settled(hand_.tree(), lossy()));
      stage.complain(why_it_is_wrong(*watch));
    }
  }

  /// In every directory something comes and goes.
  void touch_everything() {
    const models::TreeModel tree = hand_.tree();
    for (const auto& [path, entry] : tree.entries()) {
      if (entry.is_directory) hand_.write(path + "/touched.conf");
    }
    settle();
    for (const auto& [path, entry] : tree.entries()) {
      if (entry.is_directory) hand_.remove(path + "/touched.conf");
    }
  }

  [[nodiscard]] models::Complaint why_it_is_wrong(const Watch& watch) const {
    if (!watch.watcher) return {};
    const WatchModel& model = watch.model;
    const backend::FileWatch& handle = watch.watcher->handle();
    if (model.is_closed() || model.is_astray()) return {};
    if (watch.has_failed && !model.is_root_gone()) {
      return "FS-04 (ERR): a watch has failed, and its root is there";
    }
    if (model.is_root_gone()) {
      return watch.is_ended() || lossy() ? "" : "FS-04 (WAKE): the end of a root is not told";
    }
    const std::size_t below =
        model.scope().recursive ? hand_.tree().directories_below(model.scope().root) : 0;
    if (handle.places() == below + 1) return {};
    return fmt::format("FS-05 (VAL): the watch of {} has {} places, expected {}",
                       model.scope().root, handle.places(), below + 1);
  }

  [[nodiscard]] models::Complaint why_wait_should_end(const Watch& watch) const {
    if (!watch.watcher) return {};
    if (watch.model.is_closed()) return "FS-04 (WAKE): somebody sleeps at a closed watch";
    if (watch.is_ended()) return "FS-04 (WAKE): somebody sleeps at a watch that has failed";
    if (watch.buffer.has_due(now() + -seconds(1), false)) {
      return "FS-01 (WAKE): somebody sleeps beside an event";
    }
    return {};
  }

  // --- what the hand does ---

  void changed(const std::string& path, unsigned bits, bool gone,
               const Hand::Moment& since) override {
    for (const auto& watch : watches_) {
      watch->model.changed(path, bits, gone, since, hand_.tree());
    }
  }
  void may_have_changed(const std::string& path, const Hand::Moment& since) override {
    for (const auto& watch : watches_) watch->model.may_have_changed(path, since);
  }
  void moved_in(const std::string& path, const Hand::Moment& since) override {
    for (const auto& watch : watches_) watch->model.moved_in(path, since);
  }
  void moves(const std::string& from, const std::string& to) override {
    for (const auto& watch : watches_) {
      const std::string& root = watch->model.scope().root;
      if (root == from || root == to) watch->model.root_gone();
      if (models::is_below(root, from)) watch->model.astray();
    }
  }

  [[nodiscard]] bool lossy() const { return stage.struck(sim::Fault::WatchOverflow); }

  Hand hand_;
  std::vector<std::shared_ptr<Watch>> watches_;
  std::size_t jobs_ = 0;
  std::size_t idle_activity_ = 0;
};

}  // namespace watches
}  // namespace

constinit const Law kWatches = {
    "watches",
    "what changes in a watched place is told, or a rescan asked for, and nothing else is",
    {"G-05", "FS-01", "FS-02", "FS-03", "FS-04", "FS-05", "FS-06"},
    &scripts_over<watches::Watches>};

}  // namespace fermata::properties
