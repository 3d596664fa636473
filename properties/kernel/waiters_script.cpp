// SPDX-License-Identifier: Apache-2.0
#include "properties/kernel/waiters_script.hpp"

#include <ostream>

#include "properties/kernel/check.hpp"
#include "properties/kernel/waiters_play.hpp"

namespace fermata::properties {

namespace {

constexpr int kTimes = 200;

rc::Gen<std::uint8_t> file() { return rc::gen::inRange<std::uint8_t>(0, kWaitedFiles); }
rc::Gen<int> time() { return rc::gen::inRange(0, kTimes); }

rc::Gen<Waiting> waiting() {
  return rc::gen::build<Waiting>(
      rc::gen::set(&Waiting::file, file()),
      rc::gen::set(&Waiting::mask, rc::gen::element(PollMask::Readable, PollMask::Writable,
                                                    PollMask::Readable | PollMask::Writable)),
      rc::gen::set(&Waiting::begin, time()), rc::gen::set(&Waiting::patience, time()));
}

rc::Gen<FileEvent> event() {
  return rc::gen::build<FileEvent>(
      rc::gen::set(&FileEvent::file, file()),
      rc::gen::set(&FileEvent::mask,
                   rc::gen::element(PollMask::Readable, PollMask::Writable, PollMask::None)),
      rc::gen::set(&FileEvent::at, time()));
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const Waiting& waiting) {
  return out << "file " << +waiting.file << " for " << to_string(waiting.mask) << " from "
             << waiting.begin << " for " << waiting.patience << ";";
}

std::ostream& operator<<(std::ostream& out, const FileEvent& event) {
  return out << "file " << +event.file << " at " << event.at << ": "
             << (any(event.mask) ? to_string(event.mask) : "another one") << ";";
}

std::ostream& operator<<(std::ostream& out, const WaitersScript& script) {
  out << "\nwaiters:";
  for (const Waiting& waiting : script.waiters) out << " " << waiting;
  out << "\nevents:";
  for (const FileEvent& event : script.events) out << " " << event;
  write_list(out, "answers", script.answers);
  return out;
}

rc::Gen<WaitersScript> waiters_scripts() {
  return rc::gen::build<WaitersScript>(
      rc::gen::set(&WaitersScript::waiters, rc::gen::container<std::vector<Waiting>>(waiting())),
      rc::gen::set(&WaitersScript::events, rc::gen::container<std::vector<FileEvent>>(event())),
      rc::gen::set(&WaitersScript::answers, answers()));
}

}  // namespace fermata::properties
