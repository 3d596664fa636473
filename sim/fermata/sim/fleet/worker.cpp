// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/fleet/worker.hpp"

#include <algorithm>
#include <cerrno>
#include <exception>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/core/runtime.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/sim/fleet/patience.hpp"

namespace fermata::sim::fleet {
namespace {

/// How long a worker waits before it looks again, when others have all that is left: at first, then
/// twice as long each time.
constexpr Duration kFirstWait = std::chrono::milliseconds(10);
constexpr Duration kLongestWait = std::chrono::seconds(1);
/// A lease is touched this often in its lifetime.
constexpr int kTouches = 4;

}  // namespace

Worker::Worker(const PlanFolder& folder, Workload& workload, WorkerOptions options)
    : folder_(folder),
      workload_(workload),
      options_(std::move(options)),
      publisher_(folder_, options_.name),
      leases_(folder_, publisher_, options_.lease),
      results_(folder_, publisher_) {
  FERMATA_ASSERT(!options_.name.empty());
  status_.worker = options_.name;
  if (options_.time) end_.emplace(folder_, publisher_, *options_.time);
}

Worker::End Worker::run() {
  status_.began = wall_clock();
  try {
    look_for_results();
    look_for_end();
    if (left_ == 0) settle();
    Duration wait = kFirstWait;
    while ((left_ > 0 || has_grown()) && !options_.is_over()) {
      const std::optional<Claim> next = patiently([&] { return claim(); });
      if (next) {
        if (!do_chunk(*next)) break;
        wait = kFirstWait;
        look_for_end();
      } else if (left_ > 0) {
        if (status_.state != "waits") tell("waits");
        delay(wait);
        wait = std::min({wait * 2, kLongestWait, options_.lease / kTouches});
      }
      if (left_ == 0) settle();
    }
    tell_end("ended");
  } catch (const std::exception& error) {
    tell_end(std::string("failed: ") + error.what());
    throw;
  }
  return left_ == 0 && !workload_.grow() ? End::AllDone : End::Told;
}

/// Closes the plan when the time of all workers is up: chunks count up to the last that is done.
void Worker::look_for_end() {
  if (!end_) return;
  std::optional<std::size_t> count = patiently([&] { return end_->decided(); });
  if (!count && end_->is_used_up(status_)) {
    look_for_results();
    std::size_t last = done_.size();
    while (last > 1 && !done_[last - 1]) --last;
    count = end_->decide(last);
  }
  if (!count) return;
  end_.reset();
  workload_.close(*count);
  look_for_results();
}

bool Worker::has_grown() {
  if (!workload_.grow()) return false;
  look_for_results();
  if (left_ == 0) settle();
  return left_ > 0;
}

/// All chunks seem to have a result. A server that has crashed may have lost some, and who has
/// published others may have died before they were durable.
void Worker::settle() {
  results_.sync();
  look_for_results();
}

void Worker::look_for_results() {
  const std::vector<ChunkId> listed = results_.list();
  done_.assign(workload_.size(), false);
  first_ = left_ = 0;
  for (std::size_t i = 0; i < done_.size(); ++i) {
    done_[i] = std::binary_search(listed.begin(), listed.end(), workload_.at(i));
    left_ += !done_[i];
  }
}

bool Worker::has_result(std::size_t index) {
  if (!done_[index] && results_.has(workload_.at(index))) {
    done_[index] = true;
    FERMATA_ASSERT(left_ > 0);
    --left_;
  }
  return done_[index];
}

/// The first chunk that has no result and nobody's lease.
std::optional<Worker::Claim> Worker::claim() {
  leases_.refresh();
  for (std::size_t i = first_; i < done_.size(); ++i) {
    if (i == first_ && done_[i]) ++first_;
    if (done_[i]) continue;
    const ChunkId chunk = workload_.at(i);
    if (has_result(i)) {
      leases_.forget(chunk);
      continue;
    }
    told_ = now();  // Before it is taken: the machine may stand still just then.
    const std::optional<Lease> lease = leases_.take(chunk);
    if (!lease) continue;
    if (!has_result(i)) return Claim{i, *lease};
    leases_.forget(chunk);  // Somebody has given it up since has_result() was asked first.
  }
  return std::nullopt;
}

bool Worker::do_chunk(const Claim& claim) {
  status_.stolen += claim.lease.generation > 0;
  status_.chunk = claim.lease.chunk.text();
  is_lost_ = false;
  const Instant begin = now();
  tell("works");
  std::optional<std::string> bytes;
  bool begins = true;
  try {
    go_on(claim.lease);  // Somebody may have taken it from a machine that stood still.
    begins = !is_lost_;
    if (begins) bytes = workload_.run(claim.index, [&] { go_on(claim.lease); });
    if (bytes) publish(claim, *bytes);
  } catch (const std::exception&) {
    patiently([&] { leases_.release(claim.lease); });
    throw;
  }
  patiently([&] { leases_.release(claim.lease); });
  status_.lost += is_lost_;
  status_.busy += now() - begin;
  status_.chunk.clear();
  return bytes.has_value() || !begins;
}

void Worker::publish(const Claim& claim, std::string_view bytes) {
  const ChunkId chunk = claim.lease.chunk;
  const Publication publication = patiently([&] { return results_.publish(chunk, bytes); });
  status_.done += publication == Publication::New;
  status_.twice += publication != Publication::New;
  status_.different += publication == Publication::Different;
  if (!done_[claim.index]) --left_;
  done_[claim.index] = true;
}

void Worker::go_on(const Lease& lease) {
  if (now() - told_ < options_.lease / kTouches) return;
  told_ = now();
  if (!is_lost_) is_lost_ = !patiently([&] { return leases_.touch(lease); });
  tell("works");
}

void Worker::tell(std::string state) {
  status_.state = std::move(state);
  status_.told = wall_clock();
  patiently([&] {
    publisher_.replace(folder_.workers() + '/' + options_.name + ".json", status_.json());
  });
}

/// Nobody needs it, and what is told may be that nothing can be written.
void Worker::tell_end(std::string state) {
  try {
    tell(std::move(state));
  } catch (const InputOutputError&) {
    status_.told = {};
  }
}

}  // namespace fermata::sim::fleet
