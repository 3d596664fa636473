// SPDX-License-Identifier: Apache-2.0

// What the programs of each law are about. The first choices of a list are what a failing program
// shrinks to.

#include "properties/program/law.hpp"

namespace fermata::properties {

// Counts of references and of starts, recounted from holders and waits after each step.
const Profile kReferenceCountsProfile{.main = {{Op::Spawn, 10},
                                               {Op::Suspend, 2},
                                               {Op::Delay, 1},
                                               {Op::Start, 3},
                                               {Op::Stop, 3},
                                               {Op::Hold, 2},
                                               {Op::Drop, 3},
                                               {Op::Cancel, 3},
                                               {Op::Wait, 1},
                                               {Op::Close, 1}},
                                      .body = {{Op::Suspend, 3},
                                               {Op::Delay, 2},
                                               {Op::Consume, 1},
                                               {Op::Wait, 8},
                                               {Op::Catch, 2},
                                               {Op::Cancel, 3},
                                               {Op::Start, 3},
                                               {Op::Stop, 4},
                                               {Op::Rearm, 2},
                                               {Op::Hold, 1},
                                               {Op::Drop, 1},
                                               {Op::Close, 1},
                                               {Op::Await, 1},
                                               {Op::Subscribe, 1}},
                                      .callback = {{Op::Start, 2},
                                                   {Op::Stop, 3},
                                                   {Op::Rearm, 2},
                                                   {Op::Drop, 1},
                                                   {Op::Hold, 1},
                                                   {Op::Cancel, 2},
                                                   {Op::Unsubscribe, 1}},
                                      .events = {{ProgramEvent::Signal, 1},
                                                 {ProgramEvent::Promise, 1},
                                                 {ProgramEvent::Once, 3},
                                                 {ProgramEvent::Periodic, 3},
                                                 {ProgramEvent::Multishot, 3},
                                                 {ProgramEvent::Hidden, 1}}};

constinit const Law kReferenceCounts = {
    "reference_counts",
    "events live as long as somebody holds them, and are active as long as somebody has started "
    "them",
    {"CORE-EV-01", "CORE-EV-02", "CORE-EV-03", "CORE-EV-04", "CORE-EV-05", "CORE-EV-09",
     "CORE-EV-10", "CORE-CB-06", "CORE-WK-06", "CORE-GL-02", "CORE-GL-03", "CORE-GL-04",
     "CORE-GL-13"},
    &programs_about<kReferenceCountsProfile>};

// Subscribers that come, go, throw and notify again while a pass is walking over them.
const Profile kCallbackDeletionProfile{.main = {{Op::Spawn, 8},
                                                {Op::Subscribe, 8},
                                                {Op::Suspend, 3},
                                                {Op::Notify, 4},
                                                {Op::Unsubscribe, 1},
                                                {Op::Close, 1},
                                                {Op::Cancel, 1}},
                                       .body = {{Op::Suspend, 4},
                                                {Op::Wait, 3},
                                                {Op::WaitClosed, 2},
                                                {Op::Subscribe, 4},
                                                {Op::Unsubscribe, 3},
                                                {Op::Notify, 5},
                                                {Op::Close, 1},
                                                {Op::Cancel, 1},
                                                {Op::Catch, 1},
                                                {Op::Start, 1},
                                                {Op::Drop, 1}},
                                       .callback = {{Op::Unsubscribe, 6},
                                                    {Op::Subscribe, 3},
                                                    {Op::Notify, 1},
                                                    {Op::Close, 1},
                                                    {Op::Throw, 2},
                                                    {Op::Cancel, 1},
                                                    {Op::Spawn, 1},
                                                    {Op::Suspend, 1},
                                                    {Op::Drop, 1},
                                                    {Op::Stop, 1}},
                                       .events = {{ProgramEvent::Signal, 6},
                                                  {ProgramEvent::Promise, 2},
                                                  {ProgramEvent::Once, 1},
                                                  {ProgramEvent::Periodic, 1},
                                                  {ProgramEvent::Multishot, 1}}};

constinit const Law kCallbackDeletion = {
    "callback_deletion",
    "each subscriber that is there when a pass begins and not removed before its turn is called "
    "exactly once in it",
    {"CORE-CB-01", "CORE-CB-02", "CORE-CB-03", "CORE-CB-04", "CORE-CB-06", "CORE-CB-07",
     "CORE-CB-08", "CORE-CB-09", "CORE-CB-10", "CORE-CB-11", "CORE-CB-12", "CORE-EV-08",
     "CORE-SC-19", "CORE-GL-13", "EVT-03"},
    &programs_about<kCallbackDeletionProfile>};

// A shutdown at any moment, from a body or a callback, also a second one.
const Profile kGracefulShutdownProfile{.main = {{Op::Spawn, 12},
                                                {Op::Suspend, 4},
                                                {Op::Delay, 2},
                                                {Op::Shutdown, 1},
                                                {Op::Finally, 1},
                                                {Op::Await, 1},
                                                {Op::Subscribe, 1},
                                                {Op::Cancel, 1}},
                                       .body = {{Op::Suspend, 4},
                                                {Op::Delay, 3},
                                                {Op::Wait, 3},
                                                {Op::WaitClosed, 1},
                                                {Op::Await, 3},
                                                {Op::Finally, 3},
                                                {Op::Protect, 2},
                                                {Op::Catch, 3},
                                                {Op::Spawn, 2},
                                                {Op::Throw, 1},
                                                {Op::Microtask, 1},
                                                {Op::Shutdown, 1},
                                                {Op::Cancel, 1},
                                                {Op::Start, 1},
                                                {Op::Consume, 1}},
                                       .callback = {{Op::Spawn, 2},
                                                    {Op::Shutdown, 1},
                                                    {Op::Cancel, 1},
                                                    {Op::Notify, 1},
                                                    {Op::Microtask, 1},
                                                    {Op::Close, 1}},
                                       .events = {{ProgramEvent::Signal, 2},
                                                  {ProgramEvent::Promise, 2},
                                                  {ProgramEvent::Once, 1},
                                                  {ProgramEvent::Periodic, 2},
                                                  {ProgramEvent::Multishot, 1},
                                                  {ProgramEvent::Hidden, 1}}};

constinit const Law kGracefulShutdown = {
    "graceful_shutdown",
    "a shutdown at any moment ends every coroutine, runs every finally handler, and leaves nothing "
    "behind",
    {"CORE-CO-01", "CORE-CO-07", "CORE-CO-12", "CORE-CO-18", "CORE-SC-13", "CORE-SC-14",
     "CORE-GL-09", "CORE-GL-10"},
    &programs_about<kGracefulShutdownProfile>};

// The report of a deadlock, against what the program itself knows about its waits.
const Profile kDeadlockProfile{
    .main = {{Op::Spawn, 10},
             {Op::Suspend, 3},
             {Op::Delay, 1},
             {Op::Notify, 2},
             {Op::Close, 1},
             {Op::Await, 1},
             {Op::Start, 1},
             {Op::Cancel, 1}},
    .body = {{Op::Suspend, 3},
             {Op::Wait, 6},
             {Op::WaitClosed, 2},
             {Op::Await, 4},
             {Op::Notify, 3},
             {Op::Close, 1},
             {Op::Delay, 1},
             {Op::Protect, 1},
             {Op::Catch, 3},
             {Op::Cancel, 2},
             {Op::Start, 1},
             {Op::Stop, 2},
             {Op::Finally, 1},
             {Op::Microtask, 1},
             {Op::Rearm, 1}},
    .callback = {{Op::Notify, 2}, {Op::Close, 1}, {Op::Stop, 2}, {Op::Spawn, 1}, {Op::Cancel, 1}},
    .events = {{ProgramEvent::Signal, 3},
               {ProgramEvent::Promise, 2},
               {ProgramEvent::Once, 1},
               {ProgramEvent::Periodic, 1},
               {ProgramEvent::Multishot, 1},
               {ProgramEvent::Hidden, 3}}};

constinit const Law kDeadlock = {
    "deadlock",
    "a deadlock is reported when nobody can ever go on, and only then",
    {"CORE-SC-08", "CORE-SC-10", "CORE-SC-11", "CORE-SC-12", "CORE-EV-11", "CORE-GL-01"},
    &programs_about<kDeadlockProfile>};

// Waits with tokens and timeouts, answered, cancelled, or both at once.
const Profile kWakersProfile{
    .main = {{Op::Spawn, 10},
             {Op::Suspend, 3},
             {Op::Notify, 2},
             {Op::Close, 1},
             {Op::Cancel, 2},
             {Op::Await, 1}},
    .body = {{Op::Suspend, 3},
             {Op::Wait, 8},
             {Op::WaitClosed, 1},
             {Op::Await, 4},
             {Op::Notify, 3},
             {Op::Close, 2},
             {Op::Cancel, 4},
             {Op::Catch, 4},
             {Op::Throw, 1},
             {Op::Delay, 1},
             {Op::Subscribe, 1}},
    .callback = {{Op::Cancel, 3}, {Op::Notify, 2}, {Op::Close, 1}, {Op::Unsubscribe, 1}},
    .events = {{ProgramEvent::Signal, 4},
               {ProgramEvent::Promise, 3},
               {ProgramEvent::Once, 2},
               {ProgramEvent::Multishot, 1}}};

constinit const Law kWakers = {
    "wakers",
    "a wait ends once, with the first thing that answers it, and leaves nothing behind",
    {"CORE-WK-02", "CORE-WK-09", "CORE-WK-14", "CORE-EV-13", "CORE-GL-01", "CORE-GL-06",
     "CORE-GL-14"},
    &programs_about<kWakersProfile>};

// Coroutines that cancel, protect, await, throw and end in every order.
const Profile kLifecycleProfile{.main = {{Op::Spawn, 12},
                                         {Op::Suspend, 4},
                                         {Op::Cancel, 3},
                                         {Op::Await, 2},
                                         {Op::Finally, 1},
                                         {Op::Microtask, 1}},
                                .body = {{Op::Suspend, 6},
                                         {Op::Spawn, 2},
                                         {Op::Await, 4},
                                         {Op::Cancel, 5},
                                         {Op::Protect, 3},
                                         {Op::Catch, 3},
                                         {Op::Throw, 2},
                                         {Op::Finally, 3},
                                         {Op::Delay, 1},
                                         {Op::Wait, 1},
                                         {Op::Microtask, 2}},
                                .callback = {{Op::Cancel, 4},
                                             {Op::Spawn, 2},
                                             {Op::Close, 1},
                                             {Op::Microtask, 1},
                                             {Op::Suspend, 1}},
                                .events = {{ProgramEvent::Promise, 3}, {ProgramEvent::Once, 1}}};

constinit const Law kLifecycle = {
    "lifecycle",
    "a coroutine is started, told of cancellations and ended as often as it should be",
    {"CORE-CO-01", "CORE-CO-03", "CORE-CO-04", "CORE-CO-05", "CORE-CO-06", "CORE-CO-07",
     "CORE-CO-14", "CORE-CO-17", "CORE-CO-18", "CORE-GL-05", "CORE-GL-10", "CORE-GL-14",
     "CORE-SC-04", "CORE-SC-19"},
    &programs_about<kLifecycleProfile>};

// Timers of every kind among coroutines that compute, so that time passes inside steps.
const Profile kTimersProfile{
    .main = {{Op::Spawn, 10},
             {Op::Start, 4},
             {Op::Delay, 3},
             {Op::Stop, 2},
             {Op::Rearm, 2},
             {Op::Consume, 1},
             {Op::Subscribe, 3}},
    .body = {{Op::Delay, 8},
             {Op::Consume, 4},
             {Op::Wait, 5},
             {Op::Start, 3},
             {Op::Stop, 3},
             {Op::Rearm, 3},
             {Op::Cancel, 2},
             {Op::Catch, 1},
             {Op::Suspend, 2},
             {Op::Subscribe, 1}},
    .callback = {{Op::Stop, 4}, {Op::Rearm, 3}, {Op::Start, 2}, {Op::Cancel, 1}},
    .events = {{ProgramEvent::Once, 3},
               {ProgramEvent::Periodic, 3},
               {ProgramEvent::Multishot, 3},
               {ProgramEvent::Hidden, 1},
               {ProgramEvent::Signal, 1}}};

constinit const Law kTimers = {
    "timers",
    "no timer is early, the earliest is first, and none fires once it is stopped",
    {"CORE-EV-06", "CORE-EV-07", "CORE-EV-16", "TMR-01", "TMR-03", "TMR-04"},
    &programs_about<kTimersProfile>};

}  // namespace fermata::properties
