# SPDX-License-Identifier: Apache-2.0
#
# With CMAKE_UNITY_BUILD, as in most presets, the sources of one folder of a library are compiled as
# one: most of a source's time goes to what it includes. So names in the anonymous namespaces of a
# folder differ. Each source includes what it uses all the same: `debug` compiles them one by one.

# fermata_unity_by_folder(<target> [<size>]): with a size, so many sources of a folder at a time.
function(fermata_unity_by_folder target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    cmake_path(GET source PARENT_PATH folder)
    cmake_path(RELATIVE_PATH folder BASE_DIRECTORY "${PROJECT_SOURCE_DIR}")
    string(MAKE_C_IDENTIFIER "${folder}" group)
    if(ARGC GREATER 1)
      math(EXPR number "${number_of_${group}} + 0")
      math(EXPR number_of_${group} "${number} + 1")
      math(EXPR part "${number} / ${ARGV1}")
      string(APPEND group "_${part}")
    endif()
    set_source_files_properties("${source}" PROPERTIES UNITY_GROUP "${group}")
  endforeach()
endfunction()

# fermata_unity_in_groups(<name> <size> <source>...): no more than <size> of these in one group, for
# a folder that takes long: a change of one source then costs less, and two processors share it.
function(fermata_unity_in_groups name size)
  set(number 0)
  foreach(source IN LISTS ARGN)
    math(EXPR group "${number} / ${size}")
    math(EXPR number "${number} + 1")
    set_source_files_properties("${source}" PROPERTIES UNITY_GROUP "${name}_${group}")
  endforeach()
endfunction()
