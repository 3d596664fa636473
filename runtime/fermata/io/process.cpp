// SPDX-License-Identifier: Apache-2.0
#include "fermata/io/process.hpp"

#include <fmt/format.h>

#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/sync/operation.hpp"

namespace fermata {

namespace {

backend::Processes& processes() { return current_runtime().reactor().processes(); }

std::optional<PipeStream> stream_on(Ref<backend::StreamHandle> handle, const SourcePlace& place) {
  if (!handle) return std::nullopt;
  return PipeStream(std::move(handle), place);
}

}  // namespace

Process::Process(backend::Processes::Spawned spawned, const SourcePlace& place)
    : handle_(std::move(spawned.process)),
      input_(stream_on(std::move(spawned.input), place)),
      output_(stream_on(std::move(spawned.output), place)),
      errors_(stream_on(std::move(spawned.errors), place)) {
  FERMATA_ASSERT(static_cast<bool>(handle_));
  handle_->set_made_at(place);
}

Process Process::spawn(const ProcessOptions& options, SourcePlace place) {
  return Process(processes().spawn(options), place);
}

Process Process::watch(int pid, SourcePlace place) {
  return Process({processes().watch(pid), {}, {}, {}}, place);
}

ProcessExit Process::wait(const WaitOptions& options, SourcePlace place) {
  detail::check_token(options);
  const auto waited_for = Ref<backend::ProcessHandle>::share(handle());
  fermata::wait(*waited_for, options, place);
  return waited_for->exit();
}

PipeStream& Process::stream(MaybeStream& stream, const char* name) {
  if (!stream) throw UsageError(fmt::format("process: its {} is not a pipe", name));
  return *stream;
}

}  // namespace fermata
