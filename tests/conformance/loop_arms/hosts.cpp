// SPDX-License-Identifier: Apache-2.0
#include "fermata/base/function_ref.hpp"
#include "tests/conformance/loop_arms/hosts.hpp"

#include <gtest/gtest.h>

#include "tests/conformance/loop_arms/real_arm.hpp"
#include "tests/support/hosts.hpp"

namespace fermata::conformance {
namespace {

/// A loop in a guest of a host.
template <class Host>
class HostedArm final : public RealArm {
 public:
  void run(detail::FunctionRef<void()> body) override {
    host_.run([&] {
      with_loop({.hosted = true, .host_can_be_turned = host_.guest().can_turn_host()}, body);
    });
  }

  void drive() override {
    EXPECT_THROW(loop().run(), loop::LoopIsHosted);
    loop().serve([this] { loop().stop(); });
  }

  [[nodiscard]] bool is_hosted() const noexcept override { return true; }

  bool refuses_to_suspend_main() override {
    if (host_.guest().can_turn_host()) return false;
    EXPECT_THROW(loop().suspension().suspend(), loop::LoopIsHosted);
    ::testing::Test::RecordProperty("loop_is_hosted", "main cannot be suspended");
    return true;
  }

 private:
  Host host_;
};

template <class Host>
std::unique_ptr<LoopArm> make_hosted() {
  return std::make_unique<HostedArm<Host>>();
}

}  // namespace

std::vector<ArmKind> hosted_kinds() {
  return {
      {.name = "hosted_uv", .make = make_hosted<test::UvHost>, .has_native_handle = false},
#ifdef FERMATA_HAS_ASIO
      {.name = "hosted_asio", .make = make_hosted<test::AsioHost>, .has_native_handle = false},
#endif
#ifdef FERMATA_HAS_GLIB
      {.name = "hosted_glib", .make = make_hosted<test::GlibHost>, .has_native_handle = false},
#endif
  };
}

}  // namespace fermata::conformance
