/* Checks of the confidence rules that a parameters table can't express. */
#ifndef RG_ALGORITHM_RULE_H
#define RG_ALGORITHM_RULE_H

#include "regatta/domain.h"
#include "regatta/params.h"

/* A rule among the choices of table entry `entry` that holds for finite designs only (bit 1 << rule
   of `finite_only`), chosen on a box, is a mistake: names the rule, the box, what is accepted. */
void rg_rule_check_finite(const RgParam *entry, int rule, unsigned finite_only,
                          const RgDomain *domain, RgPlace place, RgDiagnostics *diagnostics);

/* `value` goes with the choice `fixed` of `entry` and with no other. */
void rg_rule_check_value(const RgParam *entry, int rule, int fixed, double value, RgPlace place,
                         RgDiagnostics *diagnostics);

/* The continuous rules need a d >= 1 (irgp_ucb 2.1). */
void rg_rule_check_constants(const RgParam *entry, int rule, int continuous, double a,
                             const RgDomain *domain, RgPlace place, RgDiagnostics *diagnostics);

#endif
