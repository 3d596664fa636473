// SPDX-License-Identifier: Apache-2.0

// What the programs of each law are about. The first choices of a list are what a failing program
// shrinks to.

#include "properties/program/law.hpp"

namespace fermata::properties {

// Counts of references and of starts, recounted from holders and waits after each step.
const Profile kReferenceCountsProfile{
    .main = {10 * Op::Spawn, 2 * Op::Suspend, 1 * Op::Delay, 3 * Op::Start, 3 * Op::Stop,
             2 * Op::Hold, 3 * Op::Drop, 3 * Op::Cancel, 1 * Op::Wait, 1 * Op::Close},
    .body = {3 * Op::Suspend, 2 * Op::Delay, 1 * Op::Consume, 8 * Op::Wait, 2 * Op::Catch,
             3 * Op::Cancel, 3 * Op::Start, 4 * Op::Stop, 2 * Op::Rearm, 1 * Op::Hold, 1 * Op::Drop,
             1 * Op::Close, 1 * Op::Await, 1 * Op::Subscribe},
    .callback = {2 * Op::Start, 3 * Op::Stop, 2 * Op::Rearm, 1 * Op::Drop, 1 * Op::Hold,
                 2 * Op::Cancel, 1 * Op::Unsubscribe},
    .events = {1 * ProgramEvent::Signal, 1 * ProgramEvent::Promise, 3 * ProgramEvent::Once,
               3 * ProgramEvent::Periodic, 3 * ProgramEvent::Multishot, 1 * ProgramEvent::Hidden}};

constinit const Law kReferenceCounts = {
    "reference_counts",
    "events live as long as somebody holds them, and are active as long as somebody has started "
    "them",
    {"CORE-EV-01", "CORE-EV-02", "CORE-EV-03", "CORE-EV-04", "CORE-EV-05", "CORE-EV-09",
     "CORE-EV-10", "CORE-CB-06", "CORE-WK-06", "CORE-GL-02", "CORE-GL-03", "CORE-GL-04",
     "CORE-GL-13"},
    &programs_about<kReferenceCountsProfile>};

// Subscribers that come, go, throw and notify again while a pass is walking over them.
const Profile kCallbackDeletionProfile{
    .main = {8 * Op::Spawn, 8 * Op::Subscribe, 3 * Op::Suspend, 4 * Op::Notify, 1 * Op::Unsubscribe,
             1 * Op::Close, 1 * Op::Cancel},
    .body = {4 * Op::Suspend, 3 * Op::Wait, 2 * Op::WaitClosed, 4 * Op::Subscribe,
             3 * Op::Unsubscribe, 5 * Op::Notify, 1 * Op::Close, 1 * Op::Cancel, 1 * Op::Catch,
             1 * Op::Start, 1 * Op::Drop},
    .callback = {6 * Op::Unsubscribe, 3 * Op::Subscribe, 1 * Op::Notify, 1 * Op::Close,
                 2 * Op::Throw, 1 * Op::Cancel, 1 * Op::Spawn, 1 * Op::Suspend, 1 * Op::Drop,
                 1 * Op::Stop},
    .events = {6 * ProgramEvent::Signal, 2 * ProgramEvent::Promise, 1 * ProgramEvent::Once,
               1 * ProgramEvent::Periodic, 1 * ProgramEvent::Multishot}};

constinit const Law kCallbackDeletion = {
    "callback_deletion",
    "each subscriber that is there when a pass begins and not removed before its turn is called "
    "exactly once in it",
    {"CORE-CB-01", "CORE-CB-02", "CORE-CB-03", "CORE-CB-04", "CORE-CB-06", "CORE-CB-07",
     "CORE-CB-08", "CORE-CB-09", "CORE-CB-10", "CORE-CB-11", "CORE-CB-12", "CORE-EV-08",
     "CORE-SC-19", "CORE-GL-13", "EVT-03"},
    &programs_about<kCallbackDeletionProfile>};

// A shutdown at any moment, from a body or a callback, also a second one.
const Profile kGracefulShutdownProfile{
    .main = {12 * Op::Spawn, 4 * Op::Suspend, 2 * Op::Delay, 1 * Op::Shutdown, 1 * Op::Finally,
             1 * Op::Await, 1 * Op::Subscribe, 1 * Op::Cancel},
    .body = {4 * Op::Suspend, 3 * Op::Delay, 3 * Op::Wait, 1 * Op::WaitClosed, 3 * Op::Await,
             3 * Op::Finally, 2 * Op::Protect, 3 * Op::Catch, 2 * Op::Spawn, 1 * Op::Throw,
             1 * Op::Microtask, 1 * Op::Shutdown, 1 * Op::Cancel, 1 * Op::Start, 1 * Op::Consume},
    .callback = {2 * Op::Spawn, 1 * Op::Shutdown, 1 * Op::Cancel, 1 * Op::Notify, 1 * Op::Microtask,
                 1 * Op::Close},
    .events = {2 * ProgramEvent::Signal, 2 * ProgramEvent::Promise, 1 * ProgramEvent::Once,
               2 * ProgramEvent::Periodic, 1 * ProgramEvent::Multishot, 1 * ProgramEvent::Hidden}};

constinit const Law kGracefulShutdown = {
    "graceful_shutdown",
    "a shutdown at any moment ends every coroutine, runs every finally handler, and leaves nothing "
    "behind",
    {"CORE-CO-01", "CORE-CO-07", "CORE-CO-12", "CORE-CO-18", "CORE-SC-13", "CORE-SC-14",
     "CORE-GL-09", "CORE-GL-10"},
    &programs_about<kGracefulShutdownProfile>};

// The report of a deadlock, against what the program itself knows about its waits.
const Profile kDeadlockProfile{
    .main = {10 * Op::Spawn, 3 * Op::Suspend, 1 * Op::Delay, 2 * Op::Notify, 1 * Op::Close,
             1 * Op::Await, 1 * Op::Start, 1 * Op::Cancel},
    .body = {3 * Op::Suspend, 6 * Op::Wait, 2 * Op::WaitClosed, 4 * Op::Await, 3 * Op::Notify,
             1 * Op::Close, 1 * Op::Delay, 1 * Op::Protect, 3 * Op::Catch, 2 * Op::Cancel,
             1 * Op::Start, 2 * Op::Stop, 1 * Op::Finally, 1 * Op::Microtask, 1 * Op::Rearm},
    .callback = {2 * Op::Notify, 1 * Op::Close, 2 * Op::Stop, 1 * Op::Spawn, 1 * Op::Cancel},
    .events = {3 * ProgramEvent::Signal, 2 * ProgramEvent::Promise, 1 * ProgramEvent::Once,
               1 * ProgramEvent::Periodic, 1 * ProgramEvent::Multishot, 3 * ProgramEvent::Hidden}};

constinit const Law kDeadlock = {
    "deadlock",
    "a deadlock is reported when nobody can ever go on, and only then",
    {"CORE-SC-08", "CORE-SC-10", "CORE-SC-11", "CORE-SC-12", "CORE-EV-11", "CORE-GL-01"},
    &programs_about<kDeadlockProfile>};

// Waits with tokens and timeouts, answered, cancelled, or both at once.
const Profile kWakersProfile{
    .main = {10 * Op::Spawn, 3 * Op::Suspend, 2 * Op::Notify, 1 * Op::Close, 2 * Op::Cancel,
             1 * Op::Await},
    .body = {3 * Op::Suspend, 8 * Op::Wait, 1 * Op::WaitClosed, 4 * Op::Await, 3 * Op::Notify,
             2 * Op::Close, 4 * Op::Cancel, 4 * Op::Catch, 1 * Op::Throw, 1 * Op::Delay,
             1 * Op::Subscribe},
    .callback = {3 * Op::Cancel, 2 * Op::Notify, 1 * Op::Close, 1 * Op::Unsubscribe},
    .events = {4 * ProgramEvent::Signal, 3 * ProgramEvent::Promise, 2 * ProgramEvent::Once,
               1 * ProgramEvent::Multishot}};

constinit const Law kWakers = {
    "wakers",
    "a wait ends once, with the first thing that answers it, and leaves nothing behind",
    {"CORE-WK-02", "CORE-WK-09", "CORE-WK-14", "CORE-EV-13", "CORE-GL-01", "CORE-GL-06",
     "CORE-GL-14"},
    &programs_about<kWakersProfile>};

// Coroutines that cancel, protect, await, throw and end in every order.
const Profile kLifecycleProfile{
    .main = {12 * Op::Spawn, 4 * Op::Suspend, 3 * Op::Cancel, 2 * Op::Await, 1 * Op::Finally,
             1 * Op::Microtask},
    .body = {6 * Op::Suspend, 2 * Op::Spawn, 4 * Op::Await, 5 * Op::Cancel, 3 * Op::Protect,
             3 * Op::Catch, 2 * Op::Throw, 3 * Op::Finally, 1 * Op::Delay, 1 * Op::Wait,
             2 * Op::Microtask},
    .callback = {4 * Op::Cancel, 2 * Op::Spawn, 1 * Op::Close, 1 * Op::Microtask, 1 * Op::Suspend},
    .events = {3 * ProgramEvent::Promise, 1 * ProgramEvent::Once}};

constinit const Law kLifecycle = {
    "lifecycle",
    "a coroutine is started, told of cancellations and ended as often as it should be",
    {"CORE-CO-01", "CORE-CO-03", "CORE-CO-04", "CORE-CO-05", "CORE-CO-06", "CORE-CO-07",
     "CORE-CO-14", "CORE-CO-17", "CORE-CO-18", "CORE-GL-05", "CORE-GL-10", "CORE-GL-14",
     "CORE-SC-04", "CORE-SC-19"},
    &programs_about<kLifecycleProfile>};

// Timers of every kind among coroutines that compute, so that time passes inside steps.
const Profile kTimersProfile{
    .main = {10 * Op::Spawn, 4 * Op::Start, 3 * Op::Delay, 2 * Op::Stop, 2 * Op::Rearm,
             1 * Op::Consume, 3 * Op::Subscribe},
    .body = {8 * Op::Delay, 4 * Op::Consume, 5 * Op::Wait, 3 * Op::Start, 3 * Op::Stop,
             3 * Op::Rearm, 2 * Op::Cancel, 1 * Op::Catch, 2 * Op::Suspend, 1 * Op::Subscribe},
    .callback = {4 * Op::Stop, 3 * Op::Rearm, 2 * Op::Start, 1 * Op::Cancel},
    .events = {3 * ProgramEvent::Once, 3 * ProgramEvent::Periodic, 3 * ProgramEvent::Multishot,
               1 * ProgramEvent::Hidden, 1 * ProgramEvent::Signal}};

constinit const Law kTimers = {
    "timers",
    "no timer is early, the earliest is first, and none fires once it is stopped",
    {"CORE-EV-06", "CORE-EV-07", "CORE-EV-16", "TMR-01", "TMR-03", "TMR-04"},
    &programs_about<kTimersProfile>};

}  // namespace fermata::properties
