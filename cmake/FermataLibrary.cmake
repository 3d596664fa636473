# SPDX-License-Identifier: Apache-2.0
#
# How a library is made. Each has its CMakeLists.txt beside its sources, below one of the include
# roots runtime/ and sim/, so that the path in an #include is a path in the tree.

# fermata_library(<name> <include root> [HEADERS <header>...] [SOURCES <source>...]): static library
# fermata_<name>, alias fermata::<name>. HEADERS, from the include root, are those that users
# include; they are installed together with the headers that they include. Without SOURCES it is
# made of those in this folder.
function(fermata_library name root)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "HEADERS;SOURCES")
  if(NOT arg_SOURCES)
    file(GLOB arg_SOURCES CONFIGURE_DEPENDS *.cpp)
  endif()
  add_library(fermata_${name} STATIC ${arg_SOURCES})
  add_library(fermata::${name} ALIAS fermata_${name})
  set_target_properties(fermata_${name} PROPERTIES EXPORT_NAME ${name})
  target_compile_features(fermata_${name} PUBLIC cxx_std_20)
  target_include_directories(fermata_${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/${root}> $<INSTALL_INTERFACE:include>)
  target_link_libraries(fermata_${name} PRIVATE fmt::fmt)
  fermata_unity_by_folder(fermata_${name})
  fermata_use_precompiled(fermata_${name} ${root})
  set_property(GLOBAL APPEND PROPERTY FERMATA_LIBRARIES ${name})
  set_property(GLOBAL APPEND PROPERTY FERMATA_HEADERS ${arg_HEADERS})
endfunction()
