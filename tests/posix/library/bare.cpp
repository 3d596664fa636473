// SPDX-License-Identifier: Apache-2.0

// A library that is linked with nothing, so that its imports name neither library nor version.

extern "C" int getpid();
extern "C" int fermata_test_is_nowhere();

extern "C" int fermata_test_bare() { return getpid() + fermata_test_is_nowhere(); }
