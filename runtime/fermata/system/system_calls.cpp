// SPDX-License-Identifier: Apache-2.0
#include "fermata/system/system_calls.hpp"

namespace fermata::os {

constinit SystemCalls kernel;

}  // namespace fermata::os
