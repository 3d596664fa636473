// SPDX-License-Identifier: Apache-2.0
#pragma once

// A shared library that was not written for Fermata, for tests: it keeps variables, allocates, ends
// its process, and does not give up.

extern "C" {
/// Counts its calls in a variable of the library.
int stubborn_count();
/// Counts them in one of the thread.
int stubborn_count_of_thread();
/// Allocates memory that nobody frees, and returns it.
void* stubborn_allocate(unsigned size);
void stubborn_free(void* memory);
/// Ends the process.
void stubborn_abort();
void stubborn_assert(int condition);
void stubborn_exit(int code);
/// Reads from the descriptor until something comes, whatever the error.
void stubborn_read(int descriptor);
/// Runs a command in another process.
int stubborn_run(const char* command);
/// An environment variable; null when it is not set.
const char* stubborn_variable(const char* name);
int stubborn_set_variable(const char* name, const char* value);
const char* stubborn_locale(const char* name);
/// What sysconf() and getrlimit() say.
long stubborn_configuration(int name);
unsigned long stubborn_limit(int resource);
/// Waits until a time of the clock has come, in a loop without a wait.
void stubborn_spin(long nanoseconds);
}
