// SPDX-License-Identifier: Apache-2.0
#include "fermata/base/assert.hpp"

#include <cstdio>
#include <cstdlib>

#include "fermata/base/error.hpp"

namespace fermata::detail {

void fail_assertion(const char* condition, const char* file, int line) noexcept {
  std::fprintf(stderr, "fermata: internal error: assertion '%s' failed at %s:%d\n", condition, file,
               line);
  std::abort();
}

void fail_requirement(const char* message) { throw UsageError(message); }

}  // namespace fermata::detail
