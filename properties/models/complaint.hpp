// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace fermata::models {

/// What a model found wrong: the rule's id, what kind of thing broke, and how; empty when nothing.
///
/// WAKE a waiter or subscriber sleeps on; ONCE something happened twice; REF references; STOP
/// starts and stops; DL+ a false deadlock, DL- a missed one; CANC cancellations; ERR errors; TIME
/// early or out of order; SHUT something outlived the end.
using Complaint = std::string;

}  // namespace fermata::models
