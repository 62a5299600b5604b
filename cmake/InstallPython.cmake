# Part of cmake --install. `import regatta` works in the Python whose packages lie under the prefix: a virtual
# environment, /usr/local, or the system's (a Debian package is packed under a folder that ends in /usr). A file
# regatta.pth there names the folder of the package. For any other prefix, a line says what to set.
# REGATTA_PACKAGE: that folder, relative to the prefix. REGATTA_INSTALL_PYTHON: the Python of a prefix without one.
set(python "${CMAKE_INSTALL_PREFIX}/bin/python3")
if(NOT EXISTS "${python}")
  set(python "${REGATTA_INSTALL_PYTHON}")
endif()
set(site "")
if(python)
  string(REGEX REPLACE "^.*/usr$" "/usr" prefix "${CMAKE_INSTALL_PREFIX}")
  execute_process(COMMAND "${python}" -I -c
    "import sys; print(next((p for p in sys.path if p.startswith(sys.argv[1] + '/lib') and p.endswith('-packages')), ''))"
    "${prefix}" OUTPUT_VARIABLE site OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(site)
  file(RELATIVE_PATH place "${prefix}" "${site}")
  file(RELATIVE_PATH package "/${place}" "/${REGATTA_PACKAGE}")
  set(file "${CMAKE_INSTALL_PREFIX}/${place}/regatta.pth")
  file(WRITE "$ENV{DESTDIR}${file}" "${package}\n")
  list(APPEND CMAKE_INSTALL_MANIFEST_FILES "${file}")
  message(STATUS "Installing: ${file}")
else()
  message(STATUS "For `import regatta` in Python: export PYTHONPATH=${CMAKE_INSTALL_PREFIX}/${REGATTA_PACKAGE}")
endif()
