// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/posix/further_processes.hpp"

#include <utility>
#include <vector>

#include "fermata/base/assert.hpp"
#include "fermata/core/switch_handlers.hpp"
#include "fermata/posix/heap.hpp"

namespace fermata::sim::detail {

class FurtherProcesses::Process {
 public:
  Process(FurtherProcesses& all, std::function<void()>&& main)
      : table_(all.machine_),
        kernel_(all.machine_, all.network_, all.disk_, table_, &all.first_),
        main_(std::move(main)) {
    kernel_.begin_life();
    kernel_.serve();
    kernel_.on_switch(std::make_shared<Handler>(all, kernel_));
  }

  [[nodiscard]] SimKernel& kernel() noexcept { return kernel_; }

  void begin(std::string_view name) {
    posix::Threads& threads = *kernel_.threads();
    pthread_t thread = 0;
    const int code = threads.create(thread, nullptr, &Process::run, this);
    if (code != 0) return;  // The run is over.
    threads.set_name(thread, std::string(name).c_str());
    threads.detach(thread);
  }

  void close_all() {
    std::vector<std::string> leaks;  // A process need not close anything.
    table_.end_run(leaks);
    kernel_.end_life();
  }

 private:
  class Handler final : public backend::SwitchHandler {
   public:
    Handler(FurtherProcesses& all, SimKernel& kernel) noexcept : all_(all), kernel_(kernel) {}

    bool on_switch(CoroutineBase& /*coroutine*/, backend::SwitchMoment moment) override {
      all_.enter(moment == backend::SwitchMoment::Enter ? kernel_ : all_.first_);
      return true;
    }

   private:
    FurtherProcesses& all_;
    SimKernel& kernel_;
  };

  static void* run(void* self) {
    auto& process = *static_cast<Process*>(self);
    process.main_();
    process.kernel_.exit_threads();
    process.close_all();
    return nullptr;
  }

  DescriptorTable table_;
  SimKernel kernel_;
  std::function<void()> main_;
};

FurtherProcesses::FurtherProcesses(SimKernel& first, Machine& machine, Network& network,
                                   Disk& disk) noexcept
    : first_(first), machine_(machine), network_(network), disk_(disk), running_(&first) {}

FurtherProcesses::~FurtherProcesses() = default;

void FurtherProcesses::enter(SimKernel& kernel) noexcept {
  FERMATA_ASSERT(running_ == &first_ || &kernel == &first_);
  running_ = &kernel;
  posix::serving = &kernel;
  posix::foreign_heap = kernel.heap();
  LibraryImages::instance().enter(kernel.image());
}

void FurtherProcesses::begin(std::string_view name, std::function<void()> main) {
  FERMATA_ASSERT(main != nullptr);
  FERMATA_ASSERT(running_ == &first_ || !processes_.empty());
  processes_.push_back(std::make_unique<Process>(*this, std::move(main)));
  processes_.back()->begin(name);
}

void FurtherProcesses::begin_life() {
  FERMATA_ASSERT(running_ == &first_);
  processes_.clear();
}

void FurtherProcesses::main_ends() {
  for (const auto& each : processes_) each->kernel().main_ends();
}

void FurtherProcesses::program_ended() {
  running_ = &first_;
  for (const auto& each : processes_) each->kernel().program_ended();
}

void FurtherProcesses::end_life() {
  for (const auto& each : processes_) each->close_all();
  first_.drop_rights();
}

}  // namespace fermata::sim::detail
