// SPDX-License-Identifier: Apache-2.0
#pragma once

// A program made of draws. Each step is a draw of its own, named by its place: a fuzzer that
// changes one leaves all others as they are, and the tape of a failure has the program on it. Calm
// draws give a program that does nothing.

#include "fermata/core/chooser.hpp"
#include "properties/program/law.hpp"

namespace fermata::fuzz {

[[nodiscard]] properties::Program drawn_program(backend::Chooser& chooser,
                                                const properties::Profile& profile);

}  // namespace fermata::fuzz
