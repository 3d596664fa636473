// SPDX-License-Identifier: Apache-2.0

// Connections of a loop against a ledger of every byte, under all faults of the simulated network.

#include <gtest/gtest.h>

#include <fermata/sim.hpp>

#include "properties/loop/ledger.hpp"

namespace fermata::properties {
namespace {

SIM_TEST(LoopTcp, KeepsTheLedgerOfEveryByte) { keep_ledger(world); }

}  // namespace
}  // namespace fermata::properties
