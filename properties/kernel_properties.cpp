// SPDX-License-Identifier: Apache-2.0

// What waits for descriptors, on a kernel that answers as it likes. libev and libevent make calls
// of their own, so their backends cannot be put on it.

#include <gtest/gtest.h>

#include <string>

#include "properties/kernel/backend_play.hpp"
#include "properties/kernel/check.hpp"
#include "properties/kernel/echo_play.hpp"
#include "properties/kernel/waiters_play.hpp"

namespace fermata::properties {
namespace {

using poll::BackendKind;

class OnAnyKernel : public ::testing::TestWithParam<PlayedBackend> {};

INSTANTIATE_TEST_SUITE_P(Each, OnAnyKernel,
                         ::testing::Values(PlayedBackend{BackendKind::Epoll},
                                           PlayedBackend{BackendKind::Epoll, false},
                                           PlayedBackend{BackendKind::Ppoll},
                                           PlayedBackend{BackendKind::Pselect}),
                         [](const auto& each) {
                           return std::string(poll::to_string(each.param.kind)) +
                                  (each.param.nanoseconds ? "" : "_milliseconds");
                         });

TEST_P(OnAnyKernel, BackendsKeepTheirContract) {
  expect_no_complaint(backend_scripts(), 3'000,
                      [](const BackendScript& script) { return play(GetParam(), script); });
}

TEST_P(OnAnyKernel, WaitersAreTold) {
  expect_no_complaint(waiters_scripts(), 1'000,
                      [](const WaitersScript& script) { return play(GetParam(), script); });
}

TEST_P(OnAnyKernel, EchoesArrive) {
  expect_no_complaint(echo_scripts(), 500,
                      [](const EchoScript& script) { return play(GetParam(), script); });
}

}  // namespace
}  // namespace fermata::properties
