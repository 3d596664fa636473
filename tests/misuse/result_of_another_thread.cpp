// SPDX-License-Identifier: Apache-2.0
// expects: the result would belong to the thread that made it

#include <fermata/io/thread_pool.hpp>
#include <fermata/runtime.hpp>

void compute(fermata::ThreadPool& pool) {
  pool.submit([] { return fermata::spawn("helper", [] {}); });
}
