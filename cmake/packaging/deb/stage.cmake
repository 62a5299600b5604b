# Run by cpack on the files of the package before it is packed: what Debian's policy asks for and other installations
# need not have. Compressed pages and changelogs, a file copyright, and one time for all files (SOURCE_DATE_EPOCH), so
# that two packages of one source have the same bytes.
if(NOT CPACK_GENERATOR STREQUAL "DEB")
  return()
endif()
set(root ${CPACK_TEMPORARY_DIRECTORY})
set(documents ${root}/usr/share/doc/regatta)
set(epoch "$ENV{SOURCE_DATE_EPOCH}")
if(NOT epoch)
  string(TIMESTAMP epoch "%s" UTC)
endif()

file(WRITE ${documents}/changelog.Debian "regatta (${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}) unstable; "
     "urgency=medium\n\n  * Release ${CPACK_PACKAGE_VERSION}; changelog.gz says what is new.\n\n")
execute_process(COMMAND env LC_ALL=C date -u -R "-d@${epoch}" OUTPUT_VARIABLE date OUTPUT_STRIP_TRAILING_WHITESPACE)
file(APPEND ${documents}/changelog.Debian " -- ${CPACK_PACKAGE_CONTACT}  ${date}\n")
file(RENAME ${documents}/CHANGELOG.md ${documents}/changelog)

file(READ ${documents}/LICENSE licence)
string(REGEX REPLACE "^.*developers\n\n" "" licence "${licence}")
file(READ ${CMAKE_CURRENT_LIST_DIR}/../../../LICENSES/BSD-3-Clause.txt third)
foreach(text licence third)
  string(STRIP "${${text}}" ${text})
  string(REPLACE "\n\n" "\n.\n" ${text} "${${text}}")
  string(REPLACE "\n" "\n " ${text} "${${text}}")
endforeach()
file(WRITE ${documents}/copyright "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n"
     "Upstream-Name: Regatta\nSource: ${CPACK_PACKAGE_HOMEPAGE_URL}\n\n"
     "Files: *\nCopyright: 2026 The Regatta developers\nLicense: BSD-2-Clause\n ${licence}\n\n"
     "Files: src/maths/sobol_numbers.*\nCopyright: 2008 Frances Y. Kuo and Stephen Joe\nLicense: BSD-3-Clause\n ${third}\n")
file(REMOVE ${documents}/LICENSE)

# One package has program, library and headers; cpack writes scripts that call ldconfig.
file(WRITE ${root}/usr/share/lintian/overrides/regatta "regatta: package-name-doesnt-match-sonames *\n"
     "regatta: link-to-shared-library-in-wrong-package *\nregatta: maintscript-calls-ldconfig *\n"
     "regatta: initial-upload-closes-no-bugs *\n")

file(GLOB pages ${root}/usr/share/man/man*/*.[0-9])
execute_process(COMMAND gzip -9nf ${documents}/changelog ${documents}/changelog.Debian ${pages} COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND find ${root} -mindepth 1 -exec touch -h "-d@${epoch}" "{}" + COMMAND_ERROR_IS_FATAL ANY)
