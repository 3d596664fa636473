// SPDX-License-Identifier: Apache-2.0

// What the program says about itself: counted, and what must hold judged.

#include <fmt/format.h>

#include <algorithm>
#include <exception>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/core/assertions.hpp"
#include "fermata/core/runtime.hpp"
#include "fermata/sim/audit/audit.hpp"
#include "fermata/sim/tape/decision.hpp"
#include "fermata/sim/waits/explain.hpp"

namespace fermata::sim::detail {

using fermata::detail::Pledge;

namespace {

std::string place_of(const backend::AssertionSite& site, const std::string& details) {
  std::string text;
  if (site.condition[0] != '\0') text += fmt::format("condition: {}\n", site.condition);
  if (!details.empty()) text += fmt::format("values:    {}\n", details);
  return text + fmt::format("place:     {}:{}\n", site.file, site.line);
}

}  // namespace

void Audit::reached(const backend::AssertionSite& site, bool holds, std::int64_t slack) {
  if (record_.over()) return;
  if (site.index >= record_.assertions.size()) [[unlikely]] {
    record_.assertions.resize(backend::assertion_site_count());
  }
  FERMATA_ASSERT(site.index < record_.assertions.size());
  record_.assertions[site.index].add(holds, slack);
  if (holds && site.is_obligation() && options_.steps != nullptr) {
    options_.steps->marked(site.message);
  }
}

bool Audit::violated(const backend::AssertionSite& site, const std::string& details) {
  if (record_.over()) return false;
  Moment moment = present();
  record_.fail(Failure{.verdict = Verdict::Safety,
                       .message = fmt::format("{}: {}", sim::to_string(site.kind), site.message),
                       .coroutine = std::move(moment.coroutine),
                       .at = moment.at,
                       .step = moment.step,
                       .explanation = place_of(site, details)});
  return true;
}

// --- what must come to hold ---

void Audit::pledged(Pledge& pledge) {
  record_.pledges.push_back(pledge);
  reached(pledge.site(), false, 0);
  pledge.deadline = clock_ + pledge.within();
  is_kept(pledge);
}

bool Audit::is_kept(Pledge& pledge) {
  if (pledge.settled || record_.over()) return true;
  try {
    if (!pledge.holds()) return false;
  } catch (...) {
    violated(pledge.site(), "the condition throws " + fermata::describe(std::current_exception()));
  }
  pledge.settled = true;
  if (!record_.over()) ++record_.assertions[pledge.site().index].held;
  return true;
}

// Others may be at an earlier time than this machine and keep it yet, so that only a step of its
// own can find it late.
void Audit::check_pledges() {
  for (Pledge* each = record_.pledges.first(); each != nullptr; each = Pledge::List::after(*each)) {
    if (clock_ <= each->deadline) {
      is_kept(*each);
    } else if (each->observer() == this && !each->settled) {
      report_broken(*each);
    }
  }
}

void Audit::end_of_pledge(Pledge& pledge, bool by_exception) noexcept {
  if (!by_exception && (clock_ > pledge.deadline ? !pledge.settled : !is_kept(pledge))) {
    report_broken(pledge);
  }
  record_.pledges.remove(pledge);
}

void Audit::report_broken(Pledge& pledge) {
  pledge.settled = true;
  const backend::AssertionSite& site = pledge.site();
  const std::string when = clock_ > pledge.deadline
                               ? "within " + describe(Instant{pledge.within().count()}).substr(1)
                               : std::string("before its scope was left");
  const WaitSource source = wait_source();
  Explanation waits = explain_waits({&source, 1}, Ending::Going, record_.steps);
  Moment moment = present();
  record_.fail(Failure{
      .verdict = Verdict::Liveness,
      .message = fmt::format("{}: {}", sim::to_string(site.kind), site.message),
      .coroutine = std::move(moment.coroutine),
      .at = moment.at,
      .step = moment.step,
      .explanation = fmt::format("never held {}\n{}{}", when, place_of(site, {}), waits.text),
      .wait_graph = std::move(waits.json)});
}

}  // namespace fermata::sim::detail
