// SPDX-License-Identifier: Apache-2.0
#pragma once

// FERMATA_OWN_ALLOCATOR is defined where a sanitizer has an allocator of its own, which nothing
// comes before.

#include "fermata/base/sanitizer.hpp"

#if defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define FERMATA_OWN_ALLOCATOR
#endif
#endif
#if defined(FERMATA_ASAN) || defined(__SANITIZE_THREAD__)
#define FERMATA_OWN_ALLOCATOR
#endif
