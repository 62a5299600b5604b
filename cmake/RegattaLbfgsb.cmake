# L-BFGS-B 3.0: the library of the system, or its source where a system has no package of it. An installed Regatta
# that was built with the source needs the runtime of Fortran alone (regattaConfig.cmake).
if(REGATTA_LBFGSB_RUNTIME)
  regatta_use(regatta_deps "" "${REGATTA_LBFGSB_RUNTIME}")
  return()
endif()
set(REGATTA_LBFGSB_SOURCE "$ENV{REGATTA_LBFGSB_SOURCE}" CACHE PATH
    "Folder with the source of L-BFGS-B 3.0 (lbfgsb.f, timer.f), to be built with Regatta")
if(NOT REGATTA_LBFGSB_SOURCE)
  find_library(RG_LBFGSB_LIBRARY NAMES lbfgsb)
  if(NOT RG_LBFGSB_LIBRARY)
    message(FATAL_ERROR "L-BFGS-B was not found (liblbfgsb). Install liblbfgsb-dev (Debian/Ubuntu), or unpack "
                        "http://users.iems.northwestern.edu/~nocedal/Software/Lbfgsb.3.0.tar.gz and name its folder in "
                        "REGATTA_LBFGSB_SOURCE; docs/install.md lists other systems.")
  endif()
  regatta_use(regatta_deps "" "${RG_LBFGSB_LIBRARY}")
  set(RG_LBFGSB_SAID ${RG_LBFGSB_LIBRARY})
  return()
endif()

foreach(file lbfgsb.f timer.f)
  if(NOT EXISTS "${REGATTA_LBFGSB_SOURCE}/${file}")
    message(FATAL_ERROR "REGATTA_LBFGSB_SOURCE: ${REGATTA_LBFGSB_SOURCE} has no ${file} of L-BFGS-B 3.0")
  endif()
endforeach()
enable_language(Fortran)
# As in Debian's build, LAPACK takes the place of LINPACK, and no line search prints a warning.
file(READ "${REGATTA_LBFGSB_SOURCE}/lbfgsb.f" text)
string(REGEX REPLACE "\n +write\\(6,\\*\\) *' (ascent|Positive|Using the back)[^\n]*" "\nc" text "${text}")
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/lbfgsb/lbfgsb.f CONTENT "@text@" @ONLY)
add_library(regatta_lbfgsb OBJECT ${PROJECT_BINARY_DIR}/lbfgsb/lbfgsb.f ${CMAKE_CURRENT_LIST_DIR}/linpack.f
            "${REGATTA_LBFGSB_SOURCE}/timer.f")
set_target_properties(regatta_lbfgsb PROPERTIES POSITION_INDEPENDENT_CODE ON)
target_compile_options(regatta_lbfgsb PRIVATE -O2 -w)
set(REGATTA_LBFGSB_RUNTIME ${CMAKE_Fortran_IMPLICIT_LINK_LIBRARIES})
list(REMOVE_ITEM REGATTA_LBFGSB_RUNTIME ${CMAKE_C_IMPLICIT_LINK_LIBRARIES})
list(TRANSFORM REGATTA_LBFGSB_RUNTIME PREPEND -l)
foreach(folder ${CMAKE_Fortran_IMPLICIT_LINK_DIRECTORIES})
  if(NOT folder IN_LIST CMAKE_C_IMPLICIT_LINK_DIRECTORIES)
    list(PREPEND REGATTA_LBFGSB_RUNTIME -L${folder})
  endif()
endforeach()
regatta_use(regatta_deps "" "${REGATTA_LBFGSB_RUNTIME}")
set(RG_LBFGSB_SAID "source in ${REGATTA_LBFGSB_SOURCE}")
