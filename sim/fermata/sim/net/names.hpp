// SPDX-License-Identifier: Apache-2.0
#pragma once

// The name service of a simulated world: every machine goes by its name, and more can be said with
// World::set_addresses. Figures and "localhost" are answered by the machine itself.

#include <list>
#include <optional>

#include "fermata/reactor/names.hpp"
#include "fermata/sim/machine/agenda.hpp"
#include "fermata/sim/record/run_log.hpp"

namespace fermata::sim::detail {

class Machine;
class NameTable;

class SimNames final : public fermata::backend::Names {
 public:
  SimNames(fermata::detail::Attachment& attachment, Machine& machine, const NameTable& table)
      : fermata::backend::Names(attachment), machine_(machine), table_(table) {}

 private:
  struct Job final : Happening {
    Job(SimNames& n, backend::NameQuery& q) : names(n), query(q) {}
    void happen() override { names.answer(*this); }
    SimNames& names;
    backend::NameQuery& query;
    std::list<Job>::iterator self;
    std::optional<RunLog::CallId> noted;  // In the run log.
  };

  void enqueue(backend::NameQuery& query) override;
  /// The question is on its way: its answer comes, and nobody wants it.
  void withdraw(backend::NameQuery&) noexcept override {}
  void answer(Job& job);
  [[nodiscard]] bool answered_here(const backend::NameQuery& query) const;
  /// "the look-up of 'db' by 'client'", for people.
  [[nodiscard]] std::string text(const backend::NameQuery& query) const;
  [[nodiscard]] std::optional<NameFailure> look_up(backend::NameQuery& query) const;
  void look_up_reverse(backend::NameQuery& query) const;

  Machine& machine_;
  const NameTable& table_;
  std::list<Job> jobs_;
};

}  // namespace fermata::sim::detail
