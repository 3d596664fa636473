# SPDX-License-Identifier: Apache-2.0
#
# Fermata inside another project, through add_subdirectory or FetchContent: there are its libraries
# and the tool, without tests, examples and installing, and only what is linked is built.

set_property(DIRECTORY PROPERTY EXCLUDE_FROM_ALL TRUE)

# Whoever links a library links the packages that it needs.
set(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL TRUE)

# Nobody there edits these sources, so they are compiled as fast as possible.
set(CMAKE_UNITY_BUILD ON)
