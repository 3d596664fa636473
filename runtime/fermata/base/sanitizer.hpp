// SPDX-License-Identifier: Apache-2.0
#pragma once

// Tells AddressSanitizer which recycled memory is out of bounds; nothing in other builds.

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FERMATA_ASAN 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define FERMATA_ASAN 1
#endif

#ifdef FERMATA_ASAN
#include <sanitizer/asan_interface.h>
#define FERMATA_POISON(address, size) ASAN_POISON_MEMORY_REGION(address, size)
#define FERMATA_UNPOISON(address, size) ASAN_UNPOISON_MEMORY_REGION(address, size)
#else
#define FERMATA_POISON(address, size) static_cast<void>(0)
#define FERMATA_UNPOISON(address, size) static_cast<void>(0)
#endif
