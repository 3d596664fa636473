// SPDX-License-Identifier: Apache-2.0
#include "properties/kernel/backend_script.hpp"

#include <ostream>
#include <string_view>

#include "properties/kernel/check.hpp"

namespace fermata::properties {

namespace {

constexpr int kMasks = 16;

rc::Gen<BackendAct> act_of(rc::Gen<BackendVerb> verbs) {
  return rc::gen::build<BackendAct>(
      rc::gen::set(&BackendAct::verb, std::move(verbs)),
      rc::gen::set(&BackendAct::which, rc::gen::inRange<std::uint8_t>(0, 8)),
      rc::gen::set(&BackendAct::mask, rc::gen::map(rc::gen::inRange(0, kMasks), [](int bits) {
        return static_cast<PollMask>(bits);
      })));
}

rc::Gen<BackendAct> any_act() {
  return act_of(rc::gen::weightedElement<BackendVerb>({{3, BackendVerb::Open},
                                                       {1, BackendVerb::Duplicate},
                                                       {4, BackendVerb::Watch},
                                                       {1, BackendVerb::Unwatch},
                                                       {1, BackendVerb::End},
                                                       {1, BackendVerb::Replace},
                                                       {1, BackendVerb::Close},
                                                       {2, BackendVerb::Abandon},
                                                       {4, BackendVerb::Ready},
                                                       {4, BackendVerb::Wait}}));
}

rc::Gen<BackendAct> act_inside() {
  return act_of(rc::gen::weightedElement<BackendVerb>({{1, BackendVerb::Open},
                                                       {2, BackendVerb::Watch},
                                                       {2, BackendVerb::Unwatch},
                                                       {2, BackendVerb::End},
                                                       {3, BackendVerb::Replace},
                                                       {1, BackendVerb::Close}}));
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const BackendAct& act) {
  constexpr std::string_view kVerbs[] = {"open",    "duplicate", "watch",   "unwatch", "end",
                                         "replace", "close",     "abandon", "ready",   "wait"};
  return out << kVerbs[static_cast<std::size_t>(act.verb)] << "(" << +act.which << ", "
             << to_string(act.mask) << ")";
}

std::ostream& operator<<(std::ostream& out, const BackendScript& script) {
  out << "\nacts:";
  for (const BackendAct& act : script.acts) out << " " << act;
  out << "\ninside:";
  for (const BackendAct& act : script.inside) out << " " << act;
  write_list(out, "answers", script.answers);
  return out;
}

rc::Gen<BackendScript> backend_scripts() {
  return rc::gen::build<BackendScript>(
      rc::gen::set(&BackendScript::acts, rc::gen::container<std::vector<BackendAct>>(any_act())),
      rc::gen::set(&BackendScript::inside,
                   rc::gen::container<std::vector<BackendAct>>(act_inside())),
      rc::gen::set(&BackendScript::answers, answers()));
}

}  // namespace fermata::properties
