// SPDX-License-Identifier: Apache-2.0
#include "properties/kernel/echo_script.hpp"

#include <ostream>

#include "properties/kernel/check.hpp"

namespace fermata::properties {

namespace {

constexpr int kBegins = 50;
constexpr std::size_t kPeersMax = 5;

rc::Gen<EchoPeer> peer() {
  return rc::gen::build<EchoPeer>(rc::gen::set(&EchoPeer::begin, rc::gen::inRange(0, kBegins)),
                                  rc::gen::set(&EchoPeer::pieces), rc::gen::set(&EchoPeer::room));
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const EchoPeer& peer) {
  out << "from " << peer.begin << ", " << +peer.room + 1 << " at once";
  write_list(out, "pieces", peer.pieces);
  return out;
}

std::ostream& operator<<(std::ostream& out, const EchoScript& script) {
  for (const EchoPeer& peer : script.peers) out << "\npeer: " << peer;
  write_list(out, "answers", script.answers);
  return out;
}

rc::Gen<EchoScript> echo_scripts() {
  return rc::gen::build<EchoScript>(
      rc::gen::set(&EchoScript::peers,
                   rc::gen::mapcat(rc::gen::inRange<std::size_t>(0, kPeersMax + 1),
                                   [](std::size_t count) {
                                     return rc::gen::container<std::vector<EchoPeer>>(count,
                                                                                      peer());
                                   })),
      rc::gen::set(&EchoScript::answers, answers()));
}

}  // namespace fermata::properties
