// SPDX-License-Identifier: Apache-2.0

// Coroutines that end when actors open their gates, and waits for several of them at once.

#include <array>
#include <list>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "properties/models/joint_model.hpp"
#include "properties/scripts/law.hpp"

namespace fermata::properties {
namespace {
namespace await_family {

struct Item {
  Ref<PlainEvent> gate;
  bool fails = false;
  bool delivered = false;  // Its error, to some wait.
  Coroutine<int> coroutine;
  Subscription watch;

  [[nodiscard]] bool succeeded() const { return !coroutine->error(); }
};

struct OpenWait {
  std::size_t actor;
  models::JointModel model;
};

template <class V>
std::vector<std::size_t> keys_of(const Keyed<std::size_t, V>& keyed) {
  std::vector<std::size_t> keys;
  for (const auto& entry : keyed) keys.push_back(entry.first);
  return keys;
}

class AwaitFamily final : public Subject {
 public:
  static constexpr auto operations() {
    return std::to_array<Operation>({
        {6, "let an item succeed", does<&AwaitFamily::let_end, false>},
        {3, "let an item fail", does<&AwaitFamily::let_end, true>},
        {3, "await all", does<&AwaitFamily::all>},
        {3, "await all or fail", does<&AwaitFamily::all_or_fail>},
        {2, "await any or fail", does<&AwaitFamily::any>},
        {3, "await any two", does<&AwaitFamily::any_two>},
        {2, "await the first success", does<&AwaitFamily::first_success>},
        {1, "race, and cancel the rest", does<&AwaitFamily::race>},
    });
  }

  explicit AwaitFamily(Stage& on) : Subject(on), items_(2 + on.script().shape[0] % 5) {
    for (std::size_t index = 0; index < items_.size(); ++index) begin(index);
  }

  /// What an actor waits for, and how.
  struct Choice {
    std::vector<std::size_t> keys;
    std::vector<Coroutine<int>> items;
    AwaitOptions options;
  };

  /// Some of the items, in some order, now and then one of them twice.
  template <class Use>
  void choose(const Cue& cue, Use use) const {
    Choice made{.options = {.timeout = cue.patience.timeout,
                            .token = cue.patience.token,
                            .preserve_order = cue.number >= 8}};
    const std::size_t count = 1 + (cue.actor + cue.number) % items_.size();
    for (std::size_t i = 0; i < count; ++i) made.keys.push_back((cue.number + i) % items_.size());
    if (cue.number % 5 == 4) made.keys.push_back(made.keys.front());
    for (const std::size_t index : made.keys) made.items.push_back(items_[index].coroutine);
    use(made);
  }

  void at_rest() override {
    for (const OpenWait& wait : *waits_) {
      if (wait.model.settled() && stage.parked(wait.actor)) {
        stage.complain("CORE-AW-11 (WAKE): actor " + std::to_string(wait.actor) +
                       " sleeps, and what it waits for is settled");
      }
    }
    for (std::size_t index = 0; index < items_.size(); ++index) check_subscribers(index);
  }

  void let_go() override {
    for (std::size_t index = 0; index < items_.size(); ++index) open_gate(index, false);
  }

  void at_end() override {
    for (const Item& item : items_) {
      const bool failed = !item.succeeded() && !is_cancellation(item.coroutine->error());
      if (failed && item.coroutine->exception_caught() != item.delivered) {
        stage.complain(item.delivered
                           ? "CORE-AW-08 (ERR): an error was delivered and is not caught"
                           : "CORE-AW-08 (ERR): an error is caught, and no wait has given it away");
      }
      item.coroutine->mark_exception_caught();
    }
  }

 private:
  void begin(std::size_t index) {
    Item& item = items_[index];
    item.gate = Ref<PlainEvent>::adopt(*new PlainEvent(current_runtime(), true));
    item.coroutine = spawn("item", [this, index] {
      wait(*items_[index].gate);
      if (items_[index].fails) throw PlannedError(static_cast<std::uint32_t>(index));
      return static_cast<int>(index);
    });
    item.watch = subscribe(item.coroutine.event(), [this, index](Event&, const Outcome& outcome) {
      for (OpenWait& wait : *waits_) {
        if (stage.parked(wait.actor)) wait.model.ended(index, !outcome.error);
      }
    });
  }

  void open_gate(std::size_t number, bool fails) {
    Item& item = items_[number % items_.size()];
    if (item.gate->is_closed()) return;
    item.fails = fails;
    item.gate->complete();
  }

  void let_end(const Cue& cue, bool fails) { open_gate(cue.number, fails); }

  void all(const Cue& cue, const Choice& it) {
    observe(cue, {it.keys.size(), true}, it.keys, [&](const auto& model) {
      return both(model, when_all_settled(it.items, it.options), it.options);
    });
  }
  void any_two(const Cue& cue, const Choice& it) {
    observe(cue, {2, true}, it.keys, [&](const auto& model) {
      return both(model, when_some_succeed(2, it.items, it.options), it.options);
    });
  }
  void all_or_fail(const Cue& cue, const Choice& it) {
    observe(cue, {it.keys.size(), false}, it.keys, [&](const auto& model) {
      return all_values(model, it.keys, when_all(it.items, it.options));
    });
  }
  void any(const Cue& cue, const Choice& it) {
    observe(cue, {1, false}, it.keys,
            [&](const auto& model) { return one_value(model, when_any(it.items, it.options)); });
  }
  void first_success(const Cue& cue, const Choice& it) {
    observe(cue, {1, true}, it.keys, [&](const auto& model) {
      const auto first = when_any_succeeds(it.items, it.options);
      note_delivered(model, first.errors);
      return one_value(model, first.value);
    });
  }

  static void expect_nothing(const Ending& /*end*/) {}

  /// `waits` returns what is wrong with what it got; `if_open`: how that goes when it is not
  /// settled from the start.
  template <class Wait, class Law = void (*)(const Ending&)>
  void observe(const Cue& cue, models::JointModel::Rule rule, const std::vector<std::size_t>& keys,
               Wait waits, Due if_open = Due::Later, Law law = &expect_nothing) {
    const auto wait = waits_->insert(waits_->end(), OpenWait{cue.actor, {rule, keys}});
    struct Over {
      std::shared_ptr<std::list<OpenWait>> waits;  // A forced end takes the subject first.
      std::list<OpenWait>::iterator wait;
      ~Over() { waits->erase(wait); }
    } over{waits_, wait};
    models::JointModel& model = wait->model;
    model.begin([this](std::size_t index) { return items_[index].coroutine->is_closed(); },
                [this](std::size_t index) { return items_[index].succeeded(); });
    try {
      call(
          cue, model.settled() ? Due::Unknown : if_open,
          [&] { stage.complain(waits(std::as_const(model))); }, law);
    } catch (const PlannedError& error) {
      items_[error.number].delivered = true;
      stage.complain(model.thrown(error.number));
    } catch (const AwaitedCancelled&) {
      if (!model.failed()) stage.complain("CORE-CN-02 (CANC): an item's cancellation came first");
    }
  }

  template <class V>
  void note_delivered(const models::JointModel& model, const Keyed<std::size_t, V>& errors) {
    for (const auto& entry : errors) items_[model.item_at(entry.first)].delivered = true;
  }

  models::Complaint both(const models::JointModel& model,
                         const AllResults<std::size_t, int>& results, const AwaitOptions& options) {
    note_delivered(model, results.errors);
    for (const auto& [key, value] : results.values) {
      if (value != static_cast<int>(model.item_at(key))) {
        return "CORE-AW-01 (VAL): a key has the value of another item";
      }
    }
    return model.returned(keys_of(results.values), keys_of(results.errors), options.preserve_order);
  }

  static models::Complaint all_values(const models::JointModel& model,
                                      const std::vector<std::size_t>& keys,
                                      const std::vector<int>& values) {
    if (!model.settled() || model.failed()) return model.returned({}, {}, false);
    for (std::size_t key = 0; key < keys.size(); ++key) {
      if (values[key] == static_cast<int>(keys[key])) continue;
      return "CORE-AW-09 (VAL): the values are not in the order of the items";
    }
    return {};
  }

  static models::Complaint one_value(const models::JointModel& model, std::optional<int> value) {
    const bool some = !model.values().empty();
    if (!model.settled() || model.failed()) return model.returned({}, {}, false);
    if (value.has_value() == some &&
        (!some || *value == static_cast<int>(model.item_at(model.values().front())))) {
      return {};
    }
    return "CORE-AW-01 (VAL): the value is not that of the first item to succeed";
  }

  void race(const Cue& cue, Choice& it) {
    if (has_fired(cue.patience.token)) return;
    it.options.on_exit = ExitPolicy::CancelAndJoin;
    const auto first = [&](const auto& model) -> models::Complaint {
      const auto results = when_some_succeed(1, it.items, it.options);
      note_delivered(model, results.errors);
      if (!model.settled()) return model.returned({}, {}, false);
      return {};
    };
    observe(cue, {1, true}, it.keys, first, Due::Unknown, [&](const Ending& end) {
      for (const auto& item : it.items) {
        if (end.forced() || item->is_closed()) continue;
        stage.complain("CORE-AW-12 (DL-): the race has ended, and one of its items runs on");
      }
    });
  }

  void check_subscribers(std::size_t index) {
    const Coroutine<int>& item = items_[index].coroutine;
    std::uint32_t expected = item->is_closed() ? 0 : 1;  // The watch.
    for (const OpenWait& wait : *waits_) {
      if (!item->is_closed() && stage.parked(wait.actor)) {
        expected += static_cast<std::uint32_t>(wait.model.count_of(index));
      }
    }
    const std::uint32_t counted = item->is_closed() ? 0 : item->callbacks().size();
    if (counted == expected) return;
    stage.complain("CORE-AW-05 (REF): item " + std::to_string(index) + " has " +
                   std::to_string(counted) + " subscribers, expected " + std::to_string(expected));
  }

  std::vector<Item> items_;
  std::shared_ptr<std::list<OpenWait>> waits_ = std::make_shared<std::list<OpenWait>>();
};

}  // namespace await_family
}  // namespace

constinit const Law kAwaitFamily = {
    "await_family",
    "a wait for several things settles once, on what had ended by then, and leaves nothing behind",
    {"CORE-AW-01", "CORE-AW-02", "CORE-AW-03", "CORE-AW-04", "CORE-AW-05", "CORE-AW-08",
     "CORE-AW-09", "CORE-AW-11", "CORE-AW-12", "CORE-CN-02"},
    &scripts_over<await_family::AwaitFamily>};

}  // namespace fermata::properties
