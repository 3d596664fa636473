// SPDX-License-Identifier: Apache-2.0

// Something that the actors share and whose history they record. It is right, or answers from what
// it was a while ago; and whoever is interrupted leaves a request without an answer. The verdict on
// the history is compared with what all orders of its requests say.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fermata/runtime.hpp"
#include "fermata/sim/history/history.hpp"
#include "properties/models/history_model.hpp"
#include "properties/scripts/law.hpp"

namespace fermata::properties {
namespace {
namespace histories {

using models::Answer;
using models::Asked;
using models::OrderSearch;
using models::Recorded;
using models::Request;
using std::chrono::milliseconds;

constexpr std::size_t kMost = 7;  // Requests of the actors: all orders of them are tried.
constexpr std::array kClients = {"Ada", "Bob", "Eve"};
/// Requests that are over before the actors come, so that there are many.
constexpr std::array<std::size_t, 8> kBefore = {0, 0, 0, 0, 0, 3, 80, 240};
constexpr std::uint64_t kLittleShrinking = 300;  // When there are many.
constexpr std::array<std::uint64_t, 4> kFewConfigurations = {1, 2, 5, 20};

// --- requests and answers, as models of histories call them ---

using sim::Done;
using IntRegister = sim::models::Register<int>;
using IntMap = sim::models::Map<int, int>;
using IntQueue = sim::models::Queue<int>;
using sim::models::Lock;

/// Two names alike but for their end.
std::string owner_of(const Request& request) { return request.value == 0 ? "one" : "other"; }

/// How requests and answers are put to each model.
template <class M>
struct Words;

template <>
struct Words<IntRegister> {
  static constexpr std::array kAsked = {Asked::Get, Asked::Put, Asked::Change};

  static IntRegister::Operation operation(const Request& request) {
    if (request.what == Asked::Put) return sim::models::Write{request.value};
    if (request.what == Asked::Get) return sim::models::Read{};
    return sim::models::CompareAndSet<int>{request.expected, request.value};
  }
  static IntRegister::Result result(Asked, Answer answer) {
    if (answer == models::kDone) return Done{};
    if (answer >= 0) return answer;
    return answer == models::kYes;
  }
};

template <>
struct Words<IntMap> {
  static constexpr std::array kAsked = {Asked::Get, Asked::Put, Asked::Remove};

  static IntMap::Operation operation(const Request& request) {
    if (request.what == Asked::Get) return sim::models::Get<int>{request.key};
    if (request.what == Asked::Remove) return sim::models::Remove<int>{request.key};
    return sim::models::Put<int, int>{request.key, request.value};
  }
  static IntMap::Result result(Asked what, Answer answer) {
    if (what == Asked::Put) return Done{};
    if (what == Asked::Remove) return answer == models::kYes;
    return answer == models::kNothing ? std::optional<int>() : std::optional<int>(answer);
  }
};

template <>
struct Words<IntQueue> {
  static constexpr std::array kAsked = {Asked::Enqueue, Asked::Dequeue, Asked::Enqueue};

  static IntQueue::Operation operation(const Request& request) {
    if (request.what == Asked::Dequeue) return sim::models::Dequeue{};
    return sim::models::Enqueue<int>{request.value};
  }
  static IntQueue::Result result(Asked what, Answer answer) {
    if (what == Asked::Enqueue) return Done{};
    return answer == models::kNothing ? std::optional<int>() : std::optional<int>(answer);
  }
};

template <>
struct Words<Lock> {
  static constexpr std::array kAsked = {Asked::Acquire, Asked::Release, Asked::TryAcquire};

  static Lock::Operation operation(const Request& request) {
    if (request.what == Asked::Acquire) return sim::models::Acquire{owner_of(request)};
    if (request.what == Asked::Release) return sim::models::Release{owner_of(request)};
    return sim::models::TryAcquire{owner_of(request)};
  }
  static Lock::Result result(Asked, Answer answer) {
    if (answer == models::kDone) return Done{};
    return answer == models::kYes;
  }
};

// --- the history under test ---

/// One of any model.
class Notes {
 public:
  Notes() = default;
  Notes(const Notes&) = delete;
  Notes& operator=(const Notes&) = delete;
  virtual ~Notes() = default;

  /// What clients may ask, as a number from 0 to 2 says.
  [[nodiscard]] virtual Asked asked(std::size_t number) const = 0;
  virtual void invoke(const char* client, const Request& request) = 0;
  virtual void responds(std::size_t number, Answer answer) = 0;
  virtual void did_not_happen(std::size_t number) = 0;

  [[nodiscard]] virtual sim::HistoryVerdict check(
      const sim::LinearizabilityLimits& limits) const = 0;
  [[nodiscard]] virtual std::string text(const sim::HistoryVerdict& verdict) const = 0;
  [[nodiscard]] virtual std::string json(const sim::HistoryVerdict& verdict) const = 0;
};

template <class M>
class NotesFor final : public Notes {
 public:
  [[nodiscard]] Asked asked(std::size_t number) const override { return Words<M>::kAsked[number]; }
  void invoke(const char* client, const Request& request) override {
    calls_.push_back({history_.invoke(client, Words<M>::operation(request)), request.what});
  }
  void responds(std::size_t number, Answer answer) override {
    calls_[number].call.responds(Words<M>::result(calls_[number].what, answer));
  }
  void did_not_happen(std::size_t number) override { calls_[number].call.did_not_happen(); }

  [[nodiscard]] sim::HistoryVerdict check(const sim::LinearizabilityLimits& limits) const override {
    return history_.check(limits);
  }
  [[nodiscard]] std::string text(const sim::HistoryVerdict& verdict) const override {
    return history_.text(verdict);
  }
  [[nodiscard]] std::string json(const sim::HistoryVerdict& verdict) const override {
    return history_.json(verdict);
  }

 private:
  struct UnderWay {
    typename sim::History<M>::Call call;
    Asked what;
  };

  sim::History<M> history_{"shared"};
  std::vector<UnderWay> calls_;
};

std::unique_ptr<Notes> notes_for(std::size_t kind) {
  switch (kind % 4) {
    case 0:
      return std::make_unique<NotesFor<IntRegister>>();
    case 1:
      return std::make_unique<NotesFor<IntMap>>();
    case 2:
      return std::make_unique<NotesFor<IntQueue>>();
    default:
      return std::make_unique<NotesFor<Lock>>();
  }
}

class Histories final : public Subject {
 public:
  static constexpr auto operations() {
    return std::to_array<Operation>({
        {16, "ask", does<&Histories::ask>},
        {6, "ask twice", does<&Histories::ask_twice>},
    });
  }

  explicit Histories(Stage& on)
      : Subject(on), notes_(notes_for(shape(0))), is_right_(shape(1) % 2 == 0) {
    // A register has a value from the beginning.
    if (shape(0) % 4 == 0) first_.apply({.what = Asked::Put});
    object_ = was_ = first_;
    for (std::size_t i = 0; i < kBefore[shape(2)]; ++i) begin_with(i);
    before_ = recorded_.size();
  }

  void at_end() override {
    const bool explained = explains(recorded_);
    if (is_right_ && !explained) {
      stage.complain("LIN: no order explains what a right object has answered");
    }
    const std::uint64_t few = kFewConfigurations[shape(3) % kFewConfigurations.size()];
    const sim::Linearizability hasty = notes_->check({.configurations = few}).answer;
    const sim::HistoryVerdict verdict =
        notes_->check(before_ > 0 ? sim::LinearizabilityLimits{.shrinking = kLittleShrinking}
                                  : sim::LinearizabilityLimits{});
    if (hasty != sim::Linearizability::Undecided && hasty != verdict.answer) {
      stage.complain("LIN: a search that ends early says something else");
    }
    if (verdict.answer != (explained ? sim::Linearizability::Yes : sim::Linearizability::No)) {
      return stage.complain(fmt::format("LIN: the history is called {}, and an order {} it",
                                        sim::to_string(verdict.answer),
                                        explained ? "explains" : "does not explain"));
    }
    const bool blames = verdict.unexplained || !verdict.counterexample.empty();
    if (explained && (blames || !notes_->text(verdict).empty())) {
      stage.complain("LIN: a history that can be explained has a counterexample");
    }
    if (!explained) stage.complain(judge(verdict));
  }

 private:
  [[nodiscard]] std::size_t shape(std::size_t index) const { return stage.script().shape[index]; }

  // --- asking ---

  [[nodiscard]] Request request_of(std::size_t number) const {
    const Asked what = notes_->asked(number % 3);
    const bool has_keys = what == Asked::Remove || shape(0) % 4 == 1;
    return {.what = what,
            .key = has_keys ? static_cast<int>(number / 3 % 2) : 0,
            .value = static_cast<int>(number / 5 % 2),
            .expected = static_cast<int>(number / 7 % 2)};
  }

  /// One by one; of some that change nothing nobody hears an answer.
  void begin_with(std::size_t number) {
    const Request request = request_of(number * 7 + shape(3));
    const Answer answer = object_.apply(request);
    if (answer == models::kNotYet) return;
    const std::size_t index = invoke("before", request);
    const bool unheard = request.what == Asked::Get && number % 4 != 0;
    if (!unheard) respond(index, answer);
    was_ = object_;
  }

  std::size_t invoke(const char* client, const Request& request) {
    notes_->invoke(client, request);
    recorded_.push_back({.request = request, .invoked = moments_++});
    return recorded_.size() - 1;
  }
  void respond(std::size_t index, Answer answer) {
    notes_->responds(index, answer);
    recorded_[index].answer = answer;
    recorded_[index].responded = moments_++;
  }

  void ask_twice(const Cue& cue) {
    ask(cue);
    ask({cue.actor, static_cast<std::uint8_t>(cue.number * 3 % 16), cue.patience});
  }

  void ask(const Cue& cue) {
    if (asked_ == kMost) return;
    ++asked_;
    const Request request = request_of(cue.number * 5u + cue.actor);
    const std::size_t index = invoke(kClients[cue.actor % kClients.size()], request);
    try {
      pass(cue.number);
    } catch (const Cancellation&) {
      if (cue.number % 2 == 0) did_not_happen(index);
      throw;
    }
    const Answer answer = carry_out(request, cue.number);
    pass(cue.number / 2u);
    if (answer != models::kNotYet) respond(index, answer);
  }

  void did_not_happen(std::size_t index) {
    notes_->did_not_happen(index);
    recorded_[index].happened = false;
    ++moments_;
  }

  static void pass(std::size_t number) {
    if (number % 3 == 1) suspend();
    if (number % 3 == 2) delay(milliseconds(number % 4));
  }

  /// A wrong object forgets now and then what it has become meanwhile.
  Answer carry_out(const Request& request, std::size_t number) {
    if (!is_right_ && number % 4 == 3) object_ = was_;
    if (number % 2 == 0) was_ = object_;
    return object_.apply(request);
  }

  // --- what a counterexample must be ---

  using Numbers = std::vector<std::size_t>;

  static bool has(const Numbers& numbers, std::size_t number) {
    return std::find(numbers.begin(), numbers.end(), number) != numbers.end();
  }
  [[nodiscard]] OrderSearch search(const std::vector<Recorded>& some) const {
    return OrderSearch(first_, some, before_);
  }
  [[nodiscard]] bool explains(const std::vector<Recorded>& some) const {
    return search(some).explains();
  }

  [[nodiscard]] models::Complaint judge(const sim::HistoryVerdict& verdict) const {
    const Numbers& numbers = verdict.counterexample;
    const bool ascends = std::is_sorted(numbers.begin(), numbers.end(), std::less_equal());
    if (!verdict.unexplained || !ascends || !has(numbers, *verdict.unexplained)) {
      return "LIN: the list of a counterexample lacks what is unexplained";
    }
    const std::size_t unexplained = *verdict.unexplained;
    if (!recorded_[unexplained].responded) return "LIN: no response, and it is not explained";
    const std::size_t end = *recorded_[unexplained].responded;
    const std::vector<Recorded> alike = of_key(recorded_[unexplained].request.key);
    const std::vector<Recorded> known = models::known_before(end + 1, alike);
    if (!explains(models::known_before(end, alike)) || explains(known)) {
      return "LIN: a response is called unexplained that is not the first one";
    }
    if (!search(known).allows(verdict.longest_order)) {
      return "LIN: an order that is called one is none";
    }
    models::Complaint complaint = judge_reduction(verdict, known);
    return complaint.empty() ? judge_words(verdict) : complaint;
  }

  /// Each key is judged by itself.
  [[nodiscard]] std::vector<Recorded> of_key(int key) const {
    std::vector<Recorded> alike = recorded_;
    for (Recorded& each : alike) each.happened = each.happened && each.request.key == key;
    return alike;
  }

  /// What is left has no explanation whatever the others did. All of it is needed, but for what
  /// is there for the sake of an order.
  [[nodiscard]] models::Complaint judge_reduction(const sim::HistoryVerdict& verdict,
                                                  std::vector<Recorded> known) const {
    for (std::size_t i = before_; i < known.size(); ++i) {
      if (!has(verdict.counterexample, i)) known[i].forget_answer();
    }
    if (explains(known)) return "LIN: a counterexample can be explained";
    if (before_ > 0) return {};  // Some of which may be needed instead of others.
    for (const std::size_t each : verdict.longest_order) known[each].forget_answer();
    for (const std::size_t each : verdict.counterexample) {
      if (each == *verdict.unexplained || has(verdict.longest_order, each)) continue;
      std::vector<Recorded> fewer = known;
      fewer[each].forget_answer();
      if (!explains(fewer)) return "LIN: a counterexample has more than it needs";
    }
    return {};
  }

  [[nodiscard]] models::Complaint judge_words(const sim::HistoryVerdict& verdict) const {
    const std::string text = notes_->text(verdict);
    const std::string heading = fmt::format("{} of {} operations that no order explains:\n",
                                            verdict.counterexample.size(), recorded_.size());
    if (text.find(heading) != 0) return "LIN: the text does not say of how many it is";
    const std::string order = verdict.longest_order.empty() ? "nothing explains" : "at best";
    if (text.find(order) == std::string::npos) return "LIN: the text does not say how far one gets";
    const auto arrows = text.find(" <--\n");
    if (arrows == std::string::npos || text.find(" <--\n", arrows + 1) != std::string::npos) {
      return "LIN: the text does not point at what is unexplained";
    }
    const auto json = nlohmann::json::parse(notes_->json(verdict));
    const bool is_same = json["answer"] == "not linearizable" &&
                         json["counterexample"] == verdict.counterexample &&
                         json["unexplained"] == *verdict.unexplained &&
                         json["operations"].size() == recorded_.size();
    return is_same ? models::Complaint() : "LIN: the JSON says something else";
  }

  std::unique_ptr<Notes> notes_;
  bool is_right_;
  models::PlainObject first_;
  models::PlainObject object_;
  models::PlainObject was_;  // Some time ago.
  std::vector<Recorded> recorded_;
  std::size_t before_ = 0;  // So many are over before the actors come.
  std::size_t moments_ = 0;
  std::size_t asked_ = 0;
};

}  // namespace histories
}  // namespace

constinit const Law kHistories = {
    "histories",
    "a history is called linearizable when an order explains it, and else shown why there is none",
    {},
    &scripts_over<histories::Histories>};

}  // namespace fermata::properties
