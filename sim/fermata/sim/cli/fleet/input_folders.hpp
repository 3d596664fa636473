// SPDX-License-Identifier: Apache-2.0
#pragma once

// A fuzzer's inputs as people keep them: files in folders, which may be AFL++'s.

#include <optional>
#include <string>
#include <string_view>

#include "fermata/sim/cli/fleet/fuzz_process.hpp"

namespace fermata::sim::cli {

enum class CorpusLayout : std::uint8_t {
  Plain,  // FOLDER/SUITE.NAME/HASH
  Afl,    // FOLDER/SUITE.NAME/fermata/queue/id:NUMBER,orig:HASH: a folder that AFL++ syncs with.
};

/// "plain" or "afl"; empty: plain. Throws UsageError.
[[nodiscard]] CorpusLayout parse_layout(std::string_view text);

/// The inputs that `folder` has for `test`: those in its folder SUITE.NAME, or all when it has none
/// of that name. Of a folder that AFL++ has written only the queue is taken. Throws UsageError when
/// there is no such folder.
[[nodiscard]] Inputs inputs_for(const std::string& test, const std::string& folder);

/// Writes the corpus of `test`; files that are there stay. Throws InputOutputError.
void write_corpus(const Inputs& inputs, const std::string& test, const std::string& folder,
                  CorpusLayout layout);

}  // namespace fermata::sim::cli
