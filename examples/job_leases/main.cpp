// SPDX-License-Identifier: Apache-2.0

// Usage: example_job_leases. A desk with five jobs and two workers, all on this machine.

#include <cstdio>
#include <fermata/uv/reactor.hpp>
#include <memory>

#include "examples/job_leases/job_leases.hpp"

int main() {
  const fermata::Address address("127.0.0.1", 7020);
  fermata::Runtime runtime(fermata::uv::make_reactor());
  return runtime.run([&] {
    const auto desk = std::make_shared<job_leases::Desk>(5);
    fermata::spawn("desk", [&] { serve(address, desk); });
    std::vector<fermata::Coroutine<>> workers;
    for (const std::string name : {"ann", "bob"}) {
      workers.push_back(fermata::spawn(
          name, [&, name] { job_leases::work(name, address, job_leases::Key::kJob); }));
    }
    fermata::when_all_settled(workers);
    std::printf("%d jobs were charged\n", desk->bank().charged_jobs());
    fermata::exit_with(0);
  });
}
