// SPDX-License-Identifier: Apache-2.0
#include <fermata/core/runtime.hpp>
#include <fermata/drivers/factory.hpp>
#include <fermata/loop/loop.hpp>

int main() {
  fermata::Runtime runtime(fermata::loop::make_reactor("select"));
  return runtime.run([] {
    fermata::loop::Loop loop;
    int code = 1;
    loop.defer([&](fermata::loop::CallbackId) { code = 0; });
    loop.run();
    return code;
  });
}
