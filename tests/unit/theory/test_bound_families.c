/* The list of families of bounds: complete, without doubles, and said in words. */
#include "test_main.h"

#include "theory/family.h"
#include "theory/formula.h"

RG_TEST(every_family_is_whole)
{
  int n;
  const RgBoundFamily *const *families = rg_bound_families(&n);

  for (int i = 0; i < n; i++) {
    const RgBoundFamily *family = families[i];

    assert_ptr_equal(rg_bound_family_find(family->name), family);
    assert_true(family->title[0] && family->reference[0] && family->assumptions[0]);
    assert_non_null(family->obstacle);
    assert_int_equal(family->nominal, family->remark != NULL);
    for (const RgBoundCurve *curve = family->curves; curve->name; curve++) {
      assert_true(curve->rules && curve->title[0] && curve->at);
      for (int j = 0; j <= i; j++)
        for (const RgBoundCurve *other = families[j]->curves; other->name; other++)
          if (other != curve && !strcmp(other->name, curve->name)) fail_msg("two %s", curve->name);
    }
  }
  assert_null(rg_bound_family_find("nobody"));
}

/* A rule belongs to one family; that of no theory to none. */
RG_TEST(every_rule_has_its_family)
{
  int n, owners;
  const RgBoundFamily *const *families = rg_bound_families(&n);

  assert_null(rg_bound_family_of(RG_THEORY_NONE));
  for (int rule = RG_THEORY_NONE + 1; rule <= RG_THEORY_WDRBO; rule++) {
    assert_non_null(rg_bound_family_of((RgTheory)rule));
    owners = 0;
    for (int i = 0; i < n; i++) {
      unsigned rules = 0;
      for (const RgBoundCurve *curve = families[i]->curves; curve->name; curve++)
        rules |= curve->rules;
      owners += (rules & RG_RULE(rule)) != 0;
    }
    assert_int_equal(owners, 1);
  }
}

RG_TEST(every_formula_is_whole)
{
  for (const RgTheoryFormula *formula = rg_theory_formulas; formula->name; formula++) {
    assert_ptr_equal(rg_theory_formula_find(formula->name), formula);
    assert_true(formula->summary[0] && formula->reference[0] && formula->rows);
    assert_true(formula->inputs[0] && formula->outputs[0] && formula->params->name);
    assert_null(formula->inputs[RG_FORMULA_COLUMNS - 1]);
    assert_null(formula->outputs[RG_FORMULA_COLUMNS - 1]);
  }
}
