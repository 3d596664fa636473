# SPDX-License-Identifier: Apache-2.0
#
# Installs FERMATA_HEADERS, which are paths below one of the include roots FERMATA_ROOTS, and every
# header of Fermata that they include, below FERMATA_INCLUDE: the roots, laid over each other.

cmake_policy(VERSION 3.25)

set(waiting ${FERMATA_HEADERS})
set(installed "")
while(waiting)
  list(POP_FRONT waiting header)
  if(header IN_LIST installed)
    continue()
  endif()
  list(APPEND installed ${header})
  set(path "")
  foreach(root IN LISTS FERMATA_ROOTS)
    if(EXISTS "${root}/${header}")
      set(path "${root}/${header}")
    endif()
  endforeach()
  if(NOT path)
    message(FATAL_ERROR "${header} is to be installed and does not exist")
  endif()
  cmake_path(GET header PARENT_PATH folder)
  file(INSTALL "${path}" DESTINATION "${FERMATA_INCLUDE}/${folder}")

  file(STRINGS "${path}" lines REGEX "^#include [\"<]fermata/")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE "^#include [\"<]([^\">]+)[\">].*" "\\1" included "${line}")
    list(APPEND waiting "${included}")
  endforeach()
endwhile()
