// SPDX-License-Identifier: Apache-2.0
#include "fermata/runtime/db/odbc/worker.hpp"

#include "fermata/runtime/db/errors.hpp"

namespace fermata::db::odbc {

bool Worker::ended_within(Duration span) {
  try {
    wait(*running_, {.timeout = span, .token = nullptr});
  } catch (const Timeout&) {
    return false;
  } catch (const Error&) {
    return !busy();
  }
  return true;
}

}  // namespace fermata::db::odbc
