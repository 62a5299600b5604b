/* The registry of built-in problems and algorithms, and those of plug-ins. */
#include "study/file/registry.h"

#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/files.h"
#include "base/hash.h"

typedef struct {
  char *name; /* file name without folder; owned */
  char hash[33];
  void *library;
  const RgPlugin *plugin;
} Loaded;

struct RgRegistry {
  int n;
  Loaded *loaded; /* owned */
};

PetscErrorCode rg_registry_create(RgRegistry **registry)
{
  return PetscNew(registry);
}

PetscErrorCode rg_registry_destroy(RgRegistry **registry)
{
  if (!*registry) return 0;
  for (int i = 0; i < (*registry)->n; i++) {
    PetscCall(PetscFree((*registry)->loaded[i].name));
    (void)dlclose((*registry)->loaded[i].library);
  }
  return RG_FREE(&(*registry)->loaded, registry);
}

/* ---- classes --------------------------------------------------------------------------------- */

/* The i-th class of problems or of algorithms. Both begin with their name. */
static const void *class_at(const RgRegistry *registry, bool problems, int i)
{
  int n;
  const void *own =
    problems ? (const void *)rg_problem_classes(&n) : (const void *)rg_algorithm_classes(&n);

  if (i < n) return ((const void *const *)own)[i];
  i -= n;
  for (int k = 0; registry && k < registry->n; k++) {
    const RgPlugin *plugin = registry->loaded[k].plugin;
    const void *more = problems ? (const void *)plugin->problems : (const void *)plugin->algorithms;
    for (const void *const *c = more; c && *c; c++)
      if (i-- == 0) return *c;
  }
  return NULL;
}

static const char *name_at(const RgRegistry *registry, bool problems, int i)
{
  const char *const *class = class_at(registry, problems, i);

  return class ? *class : NULL;
}

static const void *find_class(const RgRegistry *registry, bool problems, const char *name)
{
  int i = 0;

  for (const char *own; (own = name_at(registry, problems, i)) && strcmp(own, name);) i++;
  return class_at(registry, problems, i);
}

const RgProblemClass *rg_registry_problem(const RgRegistry *registry, int i)
{
  return class_at(registry, true, i);
}

const RgAlgorithmClass *rg_registry_algorithm(const RgRegistry *registry, int i)
{
  return class_at(registry, false, i);
}

const RgProblemClass *rg_registry_find_problem(const RgRegistry *registry, const char *name)
{
  return find_class(registry, true, name);
}

const RgAlgorithmClass *rg_registry_find_algorithm(const RgRegistry *registry, const char *name)
{
  return find_class(registry, false, name);
}

PetscErrorCode rg_registry_names(const RgRegistry *registry, bool problems, const char ***names)
{
  int n = 0;

  while (class_at(registry, problems, n)) n++;
  PetscCall(PetscCalloc1(n + 1, names));
  for (int i = 0; i < n; i++) (*names)[i] = name_at(registry, problems, i);
  return 0;
}

static bool provides(const RgPlugin *plugin, const RgCell *cell)
{
  for (const RgProblemClass *const *c = plugin->problems; c && *c; c++)
    if (*c == cell->problem) return true;
  for (const RgAlgorithmClass *const *c = plugin->algorithms; c && *c; c++)
    if (*c == cell->algorithm) return true;
  return false;
}

static uint64_t mix(uint64_t fingerprint, const char *with)
{
  char text[256];
  uint64_t hash[2];

  snprintf(text, sizeof(text), "%016llx%s", (unsigned long long)fingerprint, with);
  rg_hash128(text, strlen(text), hash);
  return hash[0];
}

uint64_t rg_registry_code_fingerprint(const RgRegistry *registry, const RgCell *cell,
                                      uint64_t machine)
{
  for (int k = 0; registry && k < registry->n; k++)
    if (provides(registry->loaded[k].plugin, cell))
      machine = mix(machine, registry->loaded[k].hash);
  return machine;
}

uint64_t rg_registry_fingerprint(const RgRegistry *registry, const RgCell *cell, uint64_t machine)
{
  const uint64_t code = rg_registry_code_fingerprint(registry, cell, machine);

  return cell->outside ? mix(code, cell->outside) : code;
}

PetscErrorCode rg_registry_describe(const RgRegistry *registry, const RgCell *cell, RgText *text)
{
  for (int k = 0; registry && k < registry->n; k++) {
    const Loaded *loaded = &registry->loaded[k];
    if (!cell || provides(loaded->plugin, cell))
      PetscCall(rg_text_add(text, "; plugin %s %s", loaded->name, loaded->hash));
  }
  if (cell && cell->outside) PetscCall(rg_text_add(text, "%s", cell->outside));
  return 0;
}

/* ---- loading --------------------------------------------------------------------------------- */

/* Check the problems or the algorithms of a plug-in. */
static PetscErrorCode check_classes(const RgRegistry *registry, const RgPlugin *plugin,
                                    bool problems, RgText *mistake)
{
  const char *one = problems ? "a problem" : "an algorithm", *what = strchr(one, ' ') + 1;
  const void *const *list =
    problems ? (const void *)plugin->problems : (const void *)plugin->algorithms;

  for (int i = 0, same = 0; list && list[i]; i++, same = 0) {
    const char *name = *(const char *const *)list[i]; /* the first member of a class */
    const RgProblemClass *p = list[i];
    const RgAlgorithmClass *a = list[i];
    if (!name || !*name || strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") < strlen(name))
      return rg_text_add(mistake, "has %s whose name is not made of a-z, 0-9 and '_'", one);
    if (find_class(registry, problems, name))
      return rg_text_add(mistake, "has %s '%s', but there is one already", one, name);
    while (strcmp(*(const char *const *)list[same], name)) same++;
    if (same < i)
      return rg_text_add(mistake, "has two %ss '%s': each needs a name of its own", what, name);
    if (problems
          ? !p->title || !p->summary || !p->reference || !p->params || !p->domain || !p->evaluate
          : !a->title || !a->summary || !a->reference || !a->params || !a->ask)
      return rg_text_add(mistake, "leaves out title, summary, reference, params%s of %s '%s'",
                         problems ? ", domain or evaluate" : " or ask", what, name);
  }
  return 0;
}

bool rg_registry_shares_hdf5(const RgRegistry *registry)
{
  for (int i = 0; registry && i < registry->n; i++) /* dlsym finds what the file is linked with */
    if (dlsym(registry->loaded[i].library, "H5open")) return true;
  return false;
}

PetscErrorCode rg_registry_load(RgRegistry *registry, const char *path, RgText *mistake)
{
  const char *slash = strrchr(path, '/');
  RgText wrong = {0};
  Loaded loaded = {0};

  RgText file = {0};
  PetscCall(rg_text_add(&file, "%s%s", strchr(path, '/') ? "" : "./", path));
  PetscCall(rg_file_hash(file.data, loaded.hash, &wrong));
  if (!wrong.length) loaded.library = dlopen(file.data, RTLD_NOW | RTLD_LOCAL);
  if (!wrong.length && !loaded.library)
    PetscCall(rg_text_add(&wrong, "can't be loaded: %s", dlerror()));
  if (loaded.library) loaded.plugin = dlsym(loaded.library, "rg_plugin");
  if (loaded.library && !loaded.plugin)
    PetscCall(rg_text_add(&wrong, "is not a plug-in of regatta: it has no RG_PLUGIN "
                                  "(regatta/plugin.h)"));
  if (loaded.plugin) {
    /* Check `abi` first: the meaning of all other members depends on it. */
    if (loaded.plugin->abi != RG_PLUGIN_ABI)
      PetscCall(rg_text_add(&wrong, "was built for plugin interface %d, regatta %s has %d",
                            loaded.plugin->abi, RG_VERSION, RG_PLUGIN_ABI));
    else if (loaded.plugin->petsc != RG_PLUGIN_PETSC)
      PetscCall(rg_text_add(&wrong, "was built with PETSc %d.%d, regatta with %d.%d",
                            loaded.plugin->petsc / 1000, loaded.plugin->petsc % 1000,
                            PETSC_VERSION_MAJOR, PETSC_VERSION_MINOR));
    else if (strcmp(loaded.plugin->version, RG_VERSION) ||
             loaded.plugin->problem_bytes != sizeof(RgProblemClass) ||
             loaded.plugin->algorithm_bytes != sizeof(RgAlgorithmClass))
      PetscCall(
        rg_text_add(&wrong, "was built for the headers of regatta %s%s", loaded.plugin->version,
                    strcmp(loaded.plugin->version, RG_VERSION) ? ", this is " RG_VERSION
                                                               : " as they were at another time"));
    if (wrong.length)
      PetscCall(rg_text_add(&wrong, ": build it again with the headers of this one"));
  }
  for (int k = 0; k < 2 && loaded.plugin && !wrong.length; k++)
    PetscCall(check_classes(registry, loaded.plugin, !k, &wrong));
  PetscCall(rg_text_clear(&file));
  if (wrong.length) {
    PetscCall(rg_text_add(mistake, "plugin %s %s", path, wrong.data));
    if (loaded.library) (void)dlclose(loaded.library);
  } else {
    PetscCall(PetscStrallocpy(slash ? slash + 1 : path, &loaded.name));
    PetscCall(RG_GROW(registry->n, registry->loaded));
    registry->loaded[registry->n++] = loaded;
  }
  return rg_text_clear(&wrong);
}
