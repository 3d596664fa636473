// SPDX-License-Identifier: Apache-2.0
// expects: operation: the function owns something, which g++ 12 destroys twice
#include <string>

#include "fermata/sync/task.hpp"

fermata::Task<> wrong(std::string text) {
  co_await fermata::operation([text] { return text.size(); });
}
