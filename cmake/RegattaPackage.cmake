# cpack: a .deb of what cmake --install gives. The libraries it depends on are those that the program
# was linked with, as dpkg-shlibdeps finds them.
set(CPACK_PACKAGE_NAME regatta)
set(CPACK_PACKAGE_VENDOR "The Regatta developers")
set(CPACK_PACKAGE_CONTACT "The Regatta developers <regatta@example.org>")
set(CPACK_PACKAGE_HOMEPAGE_URL ${PROJECT_HOMEPAGE_URL})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGE_DESCRIPTION
    "Races Bayesian-optimisation algorithms against each other over many
seeds, under mpirun or on a laptop, and turns the outcome into regret
analysis: crash-safe, resumable, the same bits whatever the layout.
With a C library, and a Python package for statistics, figures and
reports.")
set(CPACK_RESOURCE_FILE_LICENSE ${CMAKE_CURRENT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_GENERATOR DEB)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_SOURCE_DIR}/cmake/packaging/deb/stage.cmake)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS
    "openmpi-bin, python3, python3-numpy, python3-scipy, python3-pandas, python3-h5py, python3-xarray, \
python3-matplotlib, python3-jinja2, python3-yaml, python3-xxhash")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "libopenmpi-dev, petsc-dev, cmake")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${CMAKE_CURRENT_SOURCE_DIR}/cmake/packaging/deb/prerm
    ${CMAKE_CURRENT_SOURCE_DIR}/cmake/packaging/deb/triggers)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
include(CPack)
