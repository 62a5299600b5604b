/* Rules of the squared width of a confidence bound: the choice, and its checks. */
#include "algorithm/rule.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

int rg_rule_of(const RgRules *rules, const RgRuleOptions *options, const RgDomain *domain)
{
  if (options->rule) return options->rule;
  return rg_space_is_finite(&domain->design) ? rules->on_set : rules->on_box;
}

static void check_finite(const RgParam *entry, int rule, unsigned finite_only,
                         const RgDomain *domain, RgPlace place, RgDiagnostics *diagnostics)
{
  char accepted[256] = "";

  if (rg_space_is_finite(&domain->design) || !(finite_only >> rule & 1u)) return;
  for (int i = 0; entry->choices[i]; i++) {
    size_t used = strlen(accepted);
    if (finite_only >> i & 1u) continue;
    snprintf(accepted + used, sizeof accepted - used, "%s%s", used ? ", " : "", entry->choices[i]);
  }
  rg_diagnostics_add(diagnostics, place,
                     "%s: '%s' counts the points of a finite design, and this one is a box in %d "
                     "dimension%s; on a box: %s",
                     entry->name, entry->choices[rule], domain->design.dim,
                     domain->design.dim == 1 ? "" : "s", accepted);
}

void rg_rule_check_value(const RgParam *entry, int rule, int fixed, double value, RgPlace place,
                         RgDiagnostics *diagnostics)
{
  if (rule == fixed && isnan(value))
    rg_diagnostics_add(diagnostics, place, "%s: '%s' needs 'value'", entry->name,
                       entry->choices[fixed]);
  if (rule != fixed && !isnan(value))
    rg_diagnostics_add(diagnostics, place, "'value' goes with %s: '%s', and %s is '%s'",
                       entry->name, entry->choices[fixed], entry->name, entry->choices[rule]);
}

PetscErrorCode rg_rule_check(const RgRules *rules, const RgRuleOptions *options,
                             const RgDomain *domain, RgPlace place, RgDiagnostics *diagnostics)
{
  const RgParam *entry = rules->entry;
  const int rule = options->rule, dim = domain->design.dim;

  check_finite(entry, rule, rules->finite_only, domain, place, diagnostics);
  if (rule && rule == rules->continuous && options->a * dim < 1.0)
    rg_diagnostics_add(diagnostics, place, "%s: '%s' needs a >= 1/d = %g; a is %g", entry->name,
                       entry->choices[rule], 1.0 / dim, options->a);
  rg_rule_check_value(entry, rule, rules->fixed, options->value, place, diagnostics);
  return 0;
}
