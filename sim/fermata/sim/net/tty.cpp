// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/net/tty.hpp"

#include <array>

#include "fermata/base/assert.hpp"
#include "fermata/sim/machine/close_delay.hpp"
#include "fermata/sim/machine/machine.hpp"

namespace fermata::sim::detail {

SimTty::SimTty(fermata::detail::Attachment& attachment, Machine& machine, Terminal& terminal,
               backend::StandardStream which)
    : backend::StreamHandle(attachment, backend::IoType::Tty,
                            which == backend::StandardStream::Input ? backend::Direction::In
                                                                    : backend::Direction::Out),
      machine_(machine),
      terminal_(terminal),
      key_(key_of(machine.key(), to_string(which))),
      input_(*this),
      written_(*this),
      acknowledgement_(*this) {
  terminal_.add(*this);
}

// --- reading ---

int SimTty::start_reading() {
  reading_ = true;
  expect_input();
  return 0;
}

void SimTty::expect_input() {
  const bool there_is = terminal_.is_readable() || terminal_.is_ended() || terminal_.is_dead();
  if (!reading_ || !there_is || input_.is_scheduled()) return;
  machine_.agenda().schedule(input_, machine_.now(), key_);
}

void SimTty::input_came() {
  while (reading_ && terminal_.is_readable()) {
    std::array<std::byte, 4096> spare;
    const std::span<std::byte> target = read_target(spare);
    received(target.first(terminal_.read(target)));
  }
  if (reading_ && (terminal_.is_dead() || terminal_.is_ended())) received_end();
}

// --- writing ---

backend::StreamHandle::Written SimTty::try_write(backend::Buffers buffers) {
  if (terminal_.is_dead()) return {0, EIO};
  for (const std::span<const std::byte> each : buffers) {
    if (!machine_.over())
      terminal_.print({reinterpret_cast<const char*>(each.data()), each.size()});
  }
  return {backend::size_of(buffers), 0};
}

int SimTty::submit_write(std::span<const std::byte> data) {
  FERMATA_ASSERT(!written_.is_scheduled());
  const Written written = try_write({&data, 1});
  if (written.code == 0)
    machine_.agenda().schedule(written_, machine_.now(), key_of(key_, "written"));
  return written.code;
}

void SimTty::written() { write_done(0); }

// --- of a terminal, closing ---

int SimTty::apply_mode(backend::TerminalMode mode) {
  terminal_.set_mode(mode);
  changed_mode_ = mode != backend::TerminalMode::Lines;
  return 0;
}

int SimTty::read_window_size(backend::WindowSize& size) const {
  size = terminal_.size();
  return 0;
}

void SimTty::close_backend() noexcept {
  reading_ = false;
  input_.cancel();
  written_.cancel();
  terminal_.remove(*this);
  if (changed_mode_) terminal_.set_mode(backend::TerminalMode::Lines);
  const Duration delay = close_delay(machine_, key_, [] { return "the terminal"; });
  machine_.agenda().schedule(acknowledgement_, machine_.now() + delay, key_);
}

}  // namespace fermata::sim::detail
