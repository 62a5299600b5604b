/* regatta new algorithm|problem|kernel NAME: write a working skeleton and the line that
   registers it. Outside of the source tree, write a plug-in in a folder of its own. */
#include "cli/command.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files.h"

enum { OPT_SOURCE, OPT_CONTEXT, OPT_SURROGATE };

static const RgOption options[] = {
  {"-source", "FOLDER",
   "Regatta's source tree (default: the working directory if it is one; else a plug-in)"},
  {"-context", NULL, "a problem with contexts drawn by nature"},
  {"-surrogate", NULL, "an algorithm with a Gaussian process"},
  {NULL, NULL, NULL},
};

/* For each kind: paths below src/ of skeleton, list and new file, and the line of the list; then
   the option for a variant, and the variant's skeleton. */
static const struct {
  const char *kind, *skeleton, *list, *file, *line;
  int option;
  const char *variant;
} kinds[] = {
  {"algorithm", "algorithm/new.c.in", "algorithm/list.h", "algorithm/@NAME@.c",
   "RG_ALGORITHM(@NAME@)\n", OPT_SURROGATE, "algorithm/new_surrogate.c.in"},
  {"problem", "problem/new.c.in", "problem/list.h", "problem/@NAME@.c", "RG_PROBLEM(@NAME@)\n",
   OPT_CONTEXT, "problem/new_context.c.in"},
  {"kernel", "gp/kernel/new.h.in", "gp/kernel/list.h", "gp/kernel/families/@NAME@.h",
   "RG_KERNEL(@NAME@, @UPPER@)\n", OPT_SOURCE, NULL},
};

enum { N_KINDS = sizeof(kinds) / sizeof(*kinds), SKELETON_BYTES = 1 << 20 };

static bool is_identifier(const char *name)
{
  if (!islower((unsigned char)name[0])) return false;
  for (const char *p = name; *p; p++)
    if (!islower((unsigned char)*p) && !isdigit((unsigned char)*p) && *p != '_') return false;
  return strlen(name) < 48;
}

/* Replace every @NAME@ in the template by the name, and every @UPPER@ by the name in capitals. */
static PetscErrorCode fill_template(const char *template, const char *name, RgText *out)
{
  static const char lower[] = "@NAME@", upper[] = "@UPPER@";

  for (const char *at = template; *at;) {
    if (!strncmp(at, lower, strlen(lower))) {
      PetscCall(rg_text_add(out, "%s", name));
      at += strlen(lower);
    } else if (!strncmp(at, upper, strlen(upper))) {
      for (const char *c = name; *c; c++)
        PetscCall(rg_text_add(out, "%c", toupper((unsigned char)*c)));
      at += strlen(upper);
    } else {
      PetscCall(rg_text_add_bytes(out, at++, 1));
    }
  }
  return 0;
}

/* Write `text` to a file opened with `flags`; false with errno if that fails. */
static bool write_file(const char *path, int flags, const char *text)
{
  size_t length = strlen(text);
  int fd = open(path, O_WRONLY | flags, 0666);

  if (fd < 0) return false;
  bool ok = write(fd, text, length) == (ssize_t)length;
  return close(fd) == 0 && ok;
}

/* Write the file `to` by joining skeletons (NULL-terminated) of a folder. False: a mistake was
   reported, which ends with `hint`. */
static PetscErrorCode write_skeletons(const char *folder, const char *const *from, const char *name,
                                      const char *to, const char *hint, bool *ok)
{
  RgText text = {0}, mistake = {0};
  char path[RG_SHARE_BYTES + 64], *template;
  size_t length;

  for (; *from && !mistake.length; from++) {
    snprintf(path, sizeof(path), "%s/%s", folder, *from);
    PetscCall(rg_file_read(path, SKELETON_BYTES, &template, &length, &mistake));
    if (template) PetscCall(fill_template(template, name, &text));
    PetscCall(PetscFree(template));
  }
  *ok = !mistake.length && write_file(to, O_CREAT | O_EXCL, text.data);
  if (mistake.length) rg_complain("new: %s %s%s", path, mistake.data, hint);
  else if (!*ok) rg_complain("new: %s: %s", to, strerror(errno));
  PetscCall(rg_text_clear(&mistake));
  return rg_text_clear(&text);
}

/* Write a source file into Regatta's tree, and the line that registers it. */
static PetscErrorCode create(const char *source, int kind, bool variant, const char *name,
                             int *exit_code)
{
  static const char hint[] = " (run it in Regatta's source tree, or give -source)";
  const char *const skeletons[] = {variant ? kinds[kind].variant : kinds[kind].skeleton, NULL};
  char folder[RG_SHARE_BYTES], list[RG_SHARE_BYTES + 64], *registry;
  RgText path = {0}, line = {0}, mistake = {0};
  size_t length;
  bool ok = false;

  snprintf(folder, sizeof(folder), "%s/src", source);
  snprintf(list, sizeof(list), "%s/%s", folder, kinds[kind].list);
  PetscCall(rg_text_add(&path, "%s/", folder));
  PetscCall(fill_template(kinds[kind].file, name, &path));
  PetscCall(fill_template(kinds[kind].line, name, &line));
  PetscCall(rg_file_read(list, SKELETON_BYTES, &registry, &length, &mistake));
  if (!registry) rg_complain("new: %s %s%s", list, mistake.data, hint);
  else if (strstr(registry, line.data))
    rg_complain("new: %s has the line %.*s already", list, (int)line.length - 1, line.data);
  else PetscCall(write_skeletons(folder, skeletons, name, path.data, hint, &ok));
  if (ok && !write_file(list, O_APPEND, line.data)) {
    rg_complain("new: %s: %s", list, strerror(errno));
    (void)unlink(path.data); /* a partial file would block the next attempt */
    ok = false;
  }
  if (ok)
    rg_say("%s: a working %s to start from; registered in %s\n", path.data, kinds[kind].kind, list);
  *exit_code = ok ? RG_EXIT_OK : RG_EXIT_BAD_INPUT;
  PetscCall(PetscFree(registry));
  PetscCall(rg_text_clear(&path));
  PetscCall(rg_text_clear(&line));
  return rg_text_clear(&mistake);
}

/* ---- plug-ins -------------------------------------------------------------------------------- */

/* Write a folder NAME with a plug-in: NAME.c and its CMakeLists.txt. */
static PetscErrorCode create_plugin(int kind, const char *name, int *exit_code)
{
  static const char *const sources[][3] = {{"algorithm.c.in", "plugin_algorithm.c.in", NULL},
                                           {"problem.c.in", "plugin_problem.c.in", NULL}};
  static const char *const build[] = {"CMakeLists.txt.in", NULL};
  char folder[RG_SHARE_BYTES], path[128];
  bool ok;

  *exit_code = RG_EXIT_BAD_INPUT;
  if (!rg_share_find("skeletons", folder))
    return rg_refuse(exit_code,
                     "new: this is not Regatta's source tree, and there are no skeletons of "
                     "plug-ins in %s (cmake --install puts them there; or give -source)",
                     folder);
  if (mkdir(name, 0777)) return rg_refuse(exit_code, "new: %s: %s", name, strerror(errno));
  snprintf(path, sizeof(path), "%s/%s.c", name, name);
  PetscCall(write_skeletons(folder, sources[kind], name, path, "", &ok));
  snprintf(path, sizeof(path), "%s/CMakeLists.txt", name);
  if (ok) PetscCall(write_skeletons(folder, build, name, path, "", &ok));
  if (!ok) return 0;
  rg_say("%s/: a plug-in with a working %s to start from; %s says how to build and use it\n", name,
         kinds[kind].kind, path);
  *exit_code = RG_EXIT_OK;
  return 0;
}

/* Write into the source tree if this is one, else write a plug-in. */
static PetscErrorCode run(const RgArguments *arguments, const RgRegistry *registry, int *exit_code)
{
  const char *kind = arguments->positional[0], *name = arguments->positional[1];
  const char *source = arguments->option[OPT_SOURCE];
  const bool variant = arguments->option[OPT_CONTEXT] || arguments->option[OPT_SURROGATE];
  int k = 0;

  while (k < N_KINDS && strcmp(kind, kinds[k].kind)) k++;
  if (k == N_KINDS)
    return rg_refuse(exit_code, "new: unknown kind '%s', accepted: algorithm, problem, kernel",
                     kind);
  if (!is_identifier(name))
    return rg_refuse(
      exit_code, "new: '%s' is not a name: use lower-case letters, digits and '_', a letter first",
      name);
  for (int i = OPT_CONTEXT; i <= OPT_SURROGATE; i++)
    if (arguments->option[i] && kinds[k].option != i)
      return rg_refuse(
        exit_code, "new: %s is not for a new %s; accepted: problem -context, algorithm -surrogate",
        options[i].name, kind);
  if (source || access("src/algorithm/list.h", R_OK) == 0)
    return create(source ? source : ".", k, variant, name, exit_code);
  if (variant || !strcmp(kind, "kernel"))
    return rg_refuse(exit_code,
                     "new: %s needs Regatta's source tree: run it there, or give -source",
                     variant ? "-context or -surrogate" : "a kernel");
  return create_plugin(k, name, exit_code);
}

const RgCommand rg_command_new = {
  RG_USAGE("new algorithm|problem|kernel NAME [-context|-surrogate] [-source FOLDER]", options, 2,
           2),
  .place = RG_ON_RANK_0, .run = run};
