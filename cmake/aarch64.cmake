# SPDX-License-Identifier: Apache-2.0
#
# A toolchain file: Debian's g++ for arm64. FERMATA_SYSROOT is the folder with the libraries for it;
# tests/arm64/sysroot.sh makes one.

set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)

if(NOT FERMATA_SYSROOT)
  set(FERMATA_SYSROOT "${CMAKE_CURRENT_LIST_DIR}/../build/sysroot/arm64/root")
endif()
cmake_path(ABSOLUTE_PATH FERMATA_SYSROOT NORMALIZE)
if(NOT EXISTS "${FERMATA_SYSROOT}/usr/include")
  message(FATAL_ERROR "FERMATA_SYSROOT '${FERMATA_SYSROOT}' has no usr/include; expected a folder "
    "that tests/arm64/sysroot.sh has made")
endif()
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES FERMATA_SYSROOT)
set(CMAKE_SYSROOT "${FERMATA_SYSROOT}")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_DIR} "")
set(ENV{PKG_CONFIG_SYSROOT_DIR} "${FERMATA_SYSROOT}")
set(ENV{PKG_CONFIG_LIBDIR}
  "${FERMATA_SYSROOT}/usr/lib/aarch64-linux-gnu/pkgconfig:${FERMATA_SYSROOT}/usr/share/pkgconfig")

# The cross compiler looks for a linker with its own prefix, and lld has none.
set(FERMATA_LLD "" CACHE FILEPATH "The linker lld; empty for the compiler's own")

# Where there is one, programs run under it: ctest and discovered tests.
find_program(FERMATA_QEMU NAMES qemu-aarch64 qemu-aarch64-static)
if(FERMATA_QEMU)
  set(CMAKE_CROSSCOMPILING_EMULATOR "${FERMATA_QEMU};-L;${FERMATA_SYSROOT}")
endif()
