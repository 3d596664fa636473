// SPDX-License-Identifier: Apache-2.0

// Random numbers, but for those of the guard.

#include <cstdint>
#include <cstdlib>
#include <span>

#include "fermata/posix/kernel.hpp"
#include "fermata/posix/served/real.hpp"

using fermata::posix::Kernel;
using fermata::posix::serving_machine;

extern "C" {

// Since glibc 2.36; headers of C++ modes may hide them.
void arc4random_buf(void* buffer, size_t size) noexcept;
std::uint32_t arc4random_uniform(std::uint32_t bound) noexcept;

void arc4random_buf(void* buffer, size_t size) noexcept {
  Kernel* const kernel = serving_machine();
  if (kernel == nullptr) return FERMATA_REAL(arc4random_buf)(buffer, size);
  kernel->fill_randomly({static_cast<std::byte*>(buffer), size});
}

std::uint32_t arc4random_uniform(std::uint32_t bound) noexcept {
  Kernel* const kernel = serving_machine();
  if (kernel == nullptr) return FERMATA_REAL(arc4random_uniform)(bound);
  if (bound < 2) return 0;
  const std::uint32_t least = -bound % bound;  // Below it the remainders are not even.
  for (;;) {
    std::uint32_t drawn = 0;
    kernel->fill_randomly(std::as_writable_bytes(std::span(&drawn, 1)));
    if (drawn >= least) return drawn % bound;
  }
}

long random() noexcept {
  Kernel* const kernel = serving_machine();
  return kernel == nullptr ? FERMATA_REAL(random)() : kernel->next_random();
}

int rand() noexcept {
  Kernel* const kernel = serving_machine();
  return kernel == nullptr ? FERMATA_REAL(rand)() : kernel->next_random();
}

void srandom(unsigned seed) noexcept {
  Kernel* const kernel = serving_machine();
  if (kernel == nullptr) return FERMATA_REAL(srandom)(seed);
  kernel->seed_random(seed);
}

void srand(unsigned seed) noexcept {
  Kernel* const kernel = serving_machine();
  if (kernel == nullptr) return FERMATA_REAL(srand)(seed);
  kernel->seed_random(seed);
}

}  // extern "C"
