// SPDX-License-Identifier: Apache-2.0
#pragma once

// `fermata fleet` as its users meet it: plans of this very program, in a folder for each test.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/end_to_end/cli_specimens.hpp"

namespace fermata::testing {

namespace files = std::filesystem;

class Fleet : public Cli {
 protected:
  [[nodiscard]] std::string plan_command(const std::string& specimens, const std::string& flags,
                                         const std::string& plan = "plan") const {
    return tool() + " fleet plan " + sim::detail::program_path() +
           " --disabled --filter=Specimen.DISABLED_Fleet" + specimens + " --plan " + path(plan) +
           " " + flags;
  }
  void make_plan(const std::string& specimens, const std::string& flags,
                 const std::string& plan = "plan") const {
    const Finished finished = run_shell(plan_command(specimens, flags, plan));
    ASSERT_EQ(finished.exit_code, 0) << finished.output;
  }
  [[nodiscard]] std::string work_command(const std::string& flags = "--jobs 1",
                                         const std::string& plan = "plan") const {
    return tool() + " fleet work " + path(plan) + " " + flags;
  }
  [[nodiscard]] Finished result_of(const std::string& plan = "plan",
                                   const std::string& flags = "") const {
    return run_shell(tool() + " fleet result " + path(plan) + " --json " + path(plan + ".json") +
                     " " + flags);
  }
  [[nodiscard]] Finished status_of(const std::string& plan = "plan") const {
    return run_shell(tool() + " fleet status " + path(plan));
  }
  [[nodiscard]] std::string path(const std::string& name) const { return folder_ + "/" + name; }

  /// The results and findings of a plan: names and contents.
  [[nodiscard]] std::string left_by(const std::string& plan) const {
    return left_by(plan, "results") + left_by(plan, "findings") + left_by(plan, "conflicts");
  }
  /// One folder of it.
  [[nodiscard]] std::string left_by(const std::string& plan, const std::string& part) const {
    std::vector<std::string> all;
    for (const auto& entry : files::recursive_directory_iterator(path(plan) + "/" + part)) {
      if (!entry.is_regular_file()) continue;
      const std::string name = entry.path().string().substr(path(plan).size());
      all.push_back(name + '\n' + contents_of(entry.path().string()));
    }
    std::sort(all.begin(), all.end());
    std::string text;
    for (const std::string& one : all) text += one + '\n';
    return text;
  }
};

}  // namespace fermata::testing
