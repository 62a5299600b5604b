# cmake --install: program, library, headers, CMake package and pkg-config file.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/regatta)
install(TARGETS regatta regatta_shared regatta_plugin EXPORT regatta ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS regatta_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY src/regatta DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(EXPORT regatta NAMESPACE regatta:: DESTINATION ${package_dir} FILE regattaTargets.cmake)

# An installed program finds libraries in folders of their own, such as a cluster's PETSc, without LD_LIBRARY_PATH. The
# loader knows those of the system.
set(places ${MPI_C_LIBRARIES} ${RG_BLAS_ALL} ${HDF5_C_LIBRARIES})
foreach(name PETSC HDF5 BLAS LAPACKE GSL YAML JANSSON XXHASH SCALAPACK LBFGSB)
  list(APPEND places ${RG_${name}_LINK_LIBRARIES} ${RG_${name}_LIBRARY})
endforeach()
list(FILTER places INCLUDE REGEX "^/")
list(FILTER places EXCLUDE REGEX "^/(usr/)?lib")
if(places)
  set_target_properties(regatta_program regatta_shared PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
endif()

configure_package_config_file(cmake/regattaConfig.cmake.in regattaConfig.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(regattaConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/regattaConfig.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/regattaConfigVersion.cmake
              cmake/RegattaDependencies.cmake cmake/RegattaLbfgsb.cmake
        DESTINATION ${package_dir})

# The headers need PETSc and MPI; the rest is for those who link the static library. A library that
# pkg-config doesn't know is named by its flags.
foreach(variable REQUIRES REQUIRES_PRIVATE LIBS LIBS_PRIVATE CFLAGS)
  list(REMOVE_DUPLICATES REGATTA_PC_${variable})
  list(JOIN REGATTA_PC_${variable} " " REGATTA_PC_${variable})
endforeach()
file(RELATIVE_PATH REGATTA_PC_TO_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/regatta.pc.in regatta.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/regatta.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# Man pages and completion come from the program itself. Examples, and the skeletons of `regatta new`.
install(CODE "execute_process(COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:regatta_program>
  -DLIST=${CMAKE_CURRENT_SOURCE_DIR}/src/cli/list.h -DOUTPUT=${CMAKE_CURRENT_BINARY_DIR}/manual
  -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/RegattaManual.cmake)")
set(manual ${CMAKE_CURRENT_BINARY_DIR}/manual)
install(DIRECTORY ${manual}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} OPTIONAL)
install(DIRECTORY ${manual}/bash/ DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions OPTIONAL)
install(DIRECTORY ${manual}/zsh/ DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions OPTIONAL)
install(DIRECTORY ${manual}/fish/ DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d OPTIONAL)
install(FILES cmake/regatta-analysis.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(DIRECTORY experiments/examples DESTINATION ${CMAKE_INSTALL_DATADIR}/regatta USE_SOURCE_PERMISSIONS)
install(DIRECTORY cmake/skeletons DESTINATION ${CMAKE_INSTALL_DATADIR}/regatta)
install(PROGRAMS cmake/selftest/selftest.sh DESTINATION ${CMAKE_INSTALL_DATADIR}/regatta/selftest)
install(FILES tests/integration/smoke.yaml tests/integration/checksums.txt
        DESTINATION ${CMAKE_INSTALL_DATADIR}/regatta/selftest)
install(FILES experiments/high_dimension/smoke.yaml DESTINATION ${CMAKE_INSTALL_DATADIR}/regatta/selftest
        RENAME high_dimension.yaml)
install(FILES tests/data/results-v3.h5 DESTINATION ${CMAKE_INSTALL_DATADIR}/regatta/selftest RENAME reference.h5)
install(FILES src/algorithm/new.c.in DESTINATION ${CMAKE_INSTALL_DATADIR}/regatta/skeletons
        RENAME algorithm.c.in)

# A module of Lmod; others that read Lua can use it too.
configure_file(cmake/modulefile.lua.in modulefile.lua @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/modulefile.lua RENAME ${PROJECT_VERSION}.lua
        DESTINATION ${CMAKE_INSTALL_DATADIR}/regatta/modulefiles/regatta)

# The licence and what is new; the site of the documentation where `./run.sh docs` has built it.
install(FILES README.md CHANGELOG.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/docs/html DESTINATION ${CMAKE_INSTALL_DOCDIR} OPTIONAL)

# The Python package, and a command for it. (pip install ./analysis does the
# same for an environment of one's own.)
install(DIRECTORY analysis/regatta analysis/regatta_analysis DESTINATION ${CMAKE_INSTALL_DATADIR}/regatta/python
        PATTERN __pycache__ EXCLUDE)
find_program(REGATTA_INSTALL_PYTHON python3 HINTS /usr/bin)
install(CODE "set(REGATTA_PACKAGE ${CMAKE_INSTALL_DATADIR}/regatta/python)
  set(REGATTA_INSTALL_PYTHON ${REGATTA_INSTALL_PYTHON})")
install(SCRIPT cmake/InstallPython.cmake)
install(PROGRAMS cmake/regatta-analysis.sh DESTINATION ${CMAKE_INSTALL_BINDIR} RENAME regatta-analysis)
