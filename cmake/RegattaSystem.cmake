# Features of Linux and glibc that other systems may lack. CMake looks for each, and the code does without where it is
# missing (-DRG_HAVE_RENAMEAT2=OFF and so on build as there).
include(CheckLinkerFlag)
include(CheckStructHasMember)
include(CheckSymbolExists)

set(CMAKE_REQUIRED_DEFINITIONS -D_GNU_SOURCE)
check_symbol_exists(renameat2 stdio.h RG_HAVE_RENAMEAT2)
check_symbol_exists(posix_fallocate fcntl.h RG_HAVE_POSIX_FALLOCATE)
check_symbol_exists(clock_getcpuclockid time.h RG_HAVE_CLOCK_GETCPUCLOCKID)
check_struct_has_member("struct stat" st_mtim sys/stat.h RG_HAVE_ST_MTIM)
unset(CMAKE_REQUIRED_DEFINITIONS)
check_linker_flag(C LINKER:--exclude-libs,ALL RG_HAVE_EXCLUDE_LIBS)

foreach(pair RENAMEAT2:src/study/store/store_pack.c POSIX_FALLOCATE:src/study/store/store_layout.c
        CLOCK_GETCPUCLOCKID:src/base/child.c)
  string(REPLACE ":" ";" pair ${pair})
  list(GET pair 0 name)
  list(GET pair 1 file)
  if(RG_HAVE_${name})
    set_source_files_properties(${file} PROPERTIES COMPILE_DEFINITIONS RG_HAVE_${name})
  endif()
endforeach()
if(NOT RG_HAVE_ST_MTIM)
  add_compile_definitions(st_mtim=st_mtimespec) # macOS
endif()
if(RG_HAVE_EXCLUDE_LIBS)
  set(RG_SYSTEM_LINK_OPTIONS LINKER:--exclude-libs,ALL)
endif()
