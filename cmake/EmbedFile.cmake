# SPDX-License-Identifier: Apache-2.0
#
# fermata_embed(<file> <header> <namespace> <function> <result>): a source that has the bytes of
# <file> as what <function>, which <header> declares, returns. Included, it is that function; as
# cmake -D FROM=FILE -D TO=SOURCE.cpp -D HEADER=... -D NAMESPACE=... -D FUNCTION=... -P writes it.

if(NOT DEFINED FROM)
  set(FERMATA_EMBED "${CMAKE_CURRENT_LIST_FILE}")
  function(fermata_embed file header namespace function result)
    set(source "${CMAKE_CURRENT_BINARY_DIR}/${function}.cpp")
    add_custom_command(
      OUTPUT "${source}"
      COMMAND "${CMAKE_COMMAND}" -D "FROM=${file}" -D "TO=${source}" -D "HEADER=${header}"
              -D "NAMESPACE=${namespace}" -D "FUNCTION=${function}" -P "${FERMATA_EMBED}"
      DEPENDS "${file}" "${FERMATA_EMBED}"
      COMMENT "Embedding ${function}" VERBATIM)
    set(${result} "${source}" PARENT_SCOPE)
  endfunction()
  return()
endif()

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
#include \"${HEADER}\"

namespace ${NAMESPACE} {
namespace {
constexpr unsigned char k_${FUNCTION}[] = {
${lines}};
static_assert(sizeof k_${FUNCTION} == ${size});
}  // namespace

std::string_view ${FUNCTION}() noexcept {
  return {reinterpret_cast<const char*>(k_${FUNCTION}), sizeof k_${FUNCTION}};
}

}  // namespace ${NAMESPACE}
")
