/* The software that made a result: its versions as a text, and the parts of such a text. */
#include "study/record/software.h"

#include <gsl/gsl_version.h>
#include <hdf5.h>
#include <jansson.h>
#include <string.h>
#include <xxhash.h>
#include <yaml.h>

#include "maths/blas.h"
#include "maths/lbfgsb.h"
#include "base/text.h"
#include "regatta_commit.h" /* the build makes it: RG_GIT_COMMIT, RG_SOURCE_HASH */

#define SOURCE ", source "

RgSoftware rg_software_parts(const char *text)
{
  RgSoftware parts = {0};

  if (!text) text = "";
  const char *end = text + strlen(text), *program = strstr(text, "; program ");
  const char *plugin = strstr(text, "; plugin "), *source = strstr(text, SOURCE);
  if (!program) program = end;
  if (!plugin || plugin > program) plugin = program;
  parts.build = (RgPart){text, (int)strcspn(text, ";")};
  if (source && source < text + parts.build.length) {
    source += strlen(SOURCE);
    parts.source = (RgPart){source, (int)strcspn(source, ")")};
  }
  parts.plugins = (RgPart){plugin, (int)(program - plugin)};
  parts.program = (RgPart){program, (int)(end - program)};
  return parts;
}

PetscErrorCode rg_software_describe(char **description)
{
  char mpi[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  RgText text = {0};
  PetscInt major, minor, subminor;
  int length = 0;
  unsigned hdf5[3], xxhash = XXH_versionNumber();

  PetscCall(PetscGetVersionNumber(&major, &minor, &subminor, NULL));
  H5get_libversion(&hdf5[0], &hdf5[1], &hdf5[2]);
  PetscCall(rg_text_add(&text, "regatta %s (commit %s, source %s); PETSc %d.%d.%d; HDF5 %u.%u.%u",
                        RG_VERSION, RG_GIT_COMMIT, RG_SOURCE_HASH, (int)major, (int)minor,
                        (int)subminor, hdf5[0], hdf5[1], hdf5[2]));
  PetscCallMPI(MPI_Get_library_version(mpi, &length));
  mpi[strcspn(mpi, ",\n")] = '\0'; /* keep name and number; build details follow */
  for (char *tab = mpi; (tab = strchr(tab, '\t'));) *tab = ' ';
  PetscCall(rg_text_add(&text, "; %s", mpi));
  PetscCall(rg_text_add(&text, "; GSL %s; xxHash %u.%u.%u; libyaml %s; jansson %s", gsl_version,
                        xxhash / 10000, xxhash / 100 % 100, xxhash % 100, yaml_get_version_string(),
                        JANSSON_VERSION));
  PetscCall(rg_text_add(&text, "; %s", rg_blas_config()));
#ifdef __clang__
  PetscCall(rg_text_add(&text, "; compiler %s", __VERSION__));
#else
  PetscCall(rg_text_add(&text, "; compiler gcc %s", __VERSION__));
#endif
  PetscCall(rg_text_add(&text, "; flags %s", RG_COMPILER_FLAGS));
  PetscCall(PetscStrallocpy(text.data, description));
  return rg_text_clear(&text);
}
