/* A problem named on a command line: its options and its instance. */
#include "cli/named_problem.h"

#include <string.h>

#include "base/grow.h"
#include "base/left_out.h"
#include "base/text.h"
#include "cli/command.h"

enum { MAX_WORDS = 4096 };

int rg_split_words(char *text, const char *separators, const char **words)
{
  const bool nested = !strchr(separators, '(');
  int n = 0, depth = 0;
  for (char *c = text, before = 0; *c; before = *c++) {
    if (nested) depth += (*c == '(') - (*c == ')');
    if (depth <= 0 && strchr(separators, *c)) *c = '\0';
    else if (!before && n < MAX_WORDS) words[n++] = c;
  }
  return n;
}

void rg_named_problem_complain(RgNamedProblem *p, const RgDiagnostics *found)
{
  for (int i = 0; i < found->n && i < RG_DIAGNOSTICS_MAX; i++) {
    const RgDiagnostic *d = &found->list[i];
    if (d->place.file) rg_complain("%s:%d: %s", d->place.file, d->place.line, d->message);
    else rg_complain("%s: %s", p->command, d->message);
  }
  p->mistaken = p->mistaken || found->n;
}

/* Set the `words` of one -set: `key=value`, and bare values, which continue the list of the
   previous key. */
static PetscErrorCode set_words(RgNamedProblem *p, int n, const char **words, RgDiagnostics *found)
{
  for (int i = 0; i < n;) {
    char *equals = strchr(words[i], '=');
    const char *key = words[i];
    const RgParam *entry;
    int count = 1;
    if (!equals || equals == key) {
      rg_diagnostics_add(found, (RgPlace){0}, "-set takes KEY=VALUE, got '%s'", key);
      return 0;
    }
    *equals = '\0';
    words[i] = equals + 1 + (equals[1] == '[');
    while (i + count < n && !strchr(words[i + count], '=')) count++;
    PetscCall(rg_params_set(p->class->params, p->options, key, count, words + i, (RgPlace){0},
                            found, &entry));
    if (entry) p->given[entry - p->class->params] = true;
    i += count;
  }
  return 0;
}

/* Set every -set of the command line. Words that are values of options are skipped. */
static PetscErrorCode set_options(RgNamedProblem *p, const RgArguments *arguments)
{
  const RgOption *table = arguments->command->options;
  char *const *argv = arguments->argv;
  RgDiagnostics found = {0};
  const char **words;
  size_t n_params = 0;

  while (p->class->params[n_params].name) n_params++;
  PetscCall(PetscCalloc1(n_params + 1, &p->given));
  PetscCall(PetscMalloc1(MAX_WORDS, &words));
  PetscCall(PetscCalloc1(p->class->options_size + 1, (char **)&p->options));
  PetscCall(rg_params_defaults(p->class->params, p->options));
  for (int i = 1; i + 1 < arguments->argc; i++) {
    const int entry = rg_option_find(table, argv[i]);
    if (entry < 0) continue;
    i++;
    if (strcmp(table[entry].name, "-set")) continue;
    char *copy;
    PetscCall(PetscStrallocpy(argv[i], &copy));
    const int n = rg_split_words(copy, ",]", words);
    if (n == 0) rg_diagnostics_add(&found, (RgPlace){0}, "-set takes KEY=VALUE, got ''");
    PetscCall(set_words(p, n, words, &found));
    PetscCall(PetscFree(copy));
  }
  PetscCall(PetscFree(words));
  rg_named_problem_complain(p, &found);
  return 0;
}

static PetscErrorCode find_problem(RgNamedProblem *p, const RgRegistry *registry, const char *name)
{
  const char **names;
  char hint[RG_HINT_BYTES];

  p->class = rg_registry_find_problem(registry, name);
  if (p->class) return 0;
  p->mistaken = true;
  if (rg_left_out(name)) {
    rg_complain("%s: " RG_LEFT_OUT, p->command, name, rg_left_out(name));
    return 0;
  }
  PetscCall(rg_registry_names(registry, true, &names));
  rg_complain("%s: unknown problem '%s'%s (regatta list problems names them)", p->command, name,
              rg_suggest(name, names, hint));
  return PetscFree(names);
}

/* Read the draw of a random problem, or the seed of a study. */
static void read_count(RgNamedProblem *p, const RgArguments *arguments, const char *name,
                       uint64_t *count)
{
  const int option = rg_option_find(arguments->command->options, name);

  if (!rg_argument_count(arguments, option, 0, UINT64_MAX, "an integer >= 0", count))
    p->mistaken = true;
}

PetscErrorCode rg_named_problem_read(const RgArguments *arguments, const RgRegistry *registry,
                                     RgNamedProblem *p)
{
  *p = (RgNamedProblem){.command = arguments->argv[0], .seed = RG_STUDY_SEED};
  PetscCall(find_problem(p, registry, arguments->positional[0]));
  read_count(p, arguments, "-instance", &p->instance);
  read_count(p, arguments, "-seed", &p->seed);
  if (!p->mistaken) PetscCall(set_options(p, arguments));
  if (!p->mistaken) {
    RgDiagnostics found = {0};
    for (const RgParam *entry = p->class->params; entry->name; entry++)
      if (rg_is_param(entry) && !entry->fallback && !p->given[entry - p->class->params])
        rg_diagnostics_add(&found, (RgPlace){0}, "%s needs -set %s=... (%s)", p->class->name,
                           entry->name, entry->doc);
    if (!found.n) PetscCall(rg_problem_check(p->class, p->options, (RgPlace){0}, &found));
    rg_named_problem_complain(p, &found);
  }
  return 0;
}

PetscErrorCode rg_named_problem_clear(RgNamedProblem *p)
{
  if (p->options) PetscCall(rg_params_clear(p->class->params, p->options));
  return RG_FREE(&p->options, &p->given);
}
