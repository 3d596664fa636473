# SPDX-License-Identifier: Apache-2.0
#
# cmake -D FROM=FILE -D TO=SOURCE.cpp -P EmbedFile.cmake: a source that has the bytes of FILE as
# what fermata::sim::empty_html_page() returns.

file(READ "${FROM}" bytes HEX)
string(LENGTH "${bytes}" digits)
math(EXPR size "${digits} / 2")
string(REGEX REPLACE "(..)(..)(..)(..)(..)(..)(..)(..)"
       "0x\\1,0x\\2,0x\\3,0x\\4,0x\\5,0x\\6,0x\\7,0x\\8,\n" lines "${bytes}")
math(EXPR rest "${digits} % 16")
if(rest GREATER 0)
  math(EXPR begin "${digits} - ${rest}")
  string(SUBSTRING "${bytes}" ${begin} ${rest} last)
  string(REGEX REPLACE "(..)" "0x\\1," last_line "${last}")
  string(LENGTH "${lines}" length)
  math(EXPR kept "${length} - ${rest}")
  string(SUBSTRING "${lines}" 0 ${kept} lines)
  string(APPEND lines "${last_line}\n")
endif()
file(WRITE "${TO}" "// Written by EmbedFile.cmake.
#include \"fermata/sim/report/html_page.hpp\"

namespace fermata::sim {
namespace {
constexpr unsigned char kPage[] = {
${lines}};
static_assert(sizeof kPage == ${size});
}  // namespace

std::string_view empty_html_page() noexcept {
  return {reinterpret_cast<const char*>(kPage), sizeof kPage};
}

}  // namespace fermata::sim
")
