/* The list of families of bounds: complete, without duplicates, and described in words. */
#include "test_main.h"

#include "base/text.h"
#include "regatta/algorithm.h"
#include "theory/family.h"
#include "theory/formula.h"

RG_TEST(every_family_is_whole)
{
  int n;
  const RgBoundFamily *const *families = rg_bound_families(&n);

  for (int i = 0; i < n; i++) {
    const RgBoundFamily *family = families[i];

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
}

/* A rule belongs to one family, and some curve of this family is about it. */
RG_TEST(every_rule_has_its_family)
{
  int n;
  const RgBoundFamily *const *families = rg_bound_families(&n);
  unsigned mask;

  assert_null(rg_bound_family_of(NULL, &mask));
  assert_null(rg_bound_family_of("nobody", &mask));
  assert_int_equal(mask, 0);
  for (int i = 0; i < n; i++) {
    unsigned all = 0, with_curve = 0;
    for (int k = 0; families[i]->rules[k]; k++) {
      assert_ptr_equal(rg_bound_family_of(families[i]->rules[k], &mask), families[i]);
      assert_int_equal(mask, RG_RULE(k));
      all |= mask;
    }
    for (const RgBoundCurve *curve = families[i]->curves; curve->name; curve++)
      with_curve |= curve->rules;
    assert_int_equal(with_curve, all);
    assert_int_equal((families[i]->joint | families[i]->continuous) & ~all, 0);
  }
}

/* The rules that the laws of a method's settings name: every choice of every option, on a finite
   design and a box, without contexts and with them. */
static void add_rules_of(const RgAlgorithmClass *class, const RgDomain *domain, RgText *names)
{
  void *options;

  RG_OK(PetscCalloc1(class->options_size + 1, (char **)&options));
  RG_OK(rg_params_defaults(class->params, options));
  for (const RgParam *param = class->params; param->name; param++) {
    int *choice = (int *)((char *)options + param->offset);
    const int kept = param->type == RG_PARAM_CHOICE ? *choice : 0;

    for (int k = 0; k == 0 || (param->type == RG_PARAM_CHOICE && param->choices[k]); k++) {
      RgConfidenceLaw law = {0};
      unsigned mask;

      if (param->type == RG_PARAM_CHOICE) *choice = k;
      class->confidence(options, domain, 1, &law);
      if (!law.rule) continue;
      if (!rg_bound_family_of(law.rule, &mask))
        fail_msg("%s has a rule '%s' that no family of bounds knows", class->name, law.rule);
      RG_OK(rg_text_add(names, " %s ", law.rule));
    }
    if (param->type == RG_PARAM_CHOICE) *choice = kept;
  }
  RG_OK(rg_params_clear(class->params, options));
  RG_OK(PetscFree(options));
}

/* Every rule that a method names belongs to a family, and every rule of a family is named by a
   method. */
RG_TEST(methods_and_families_use_the_same_names_of_rules)
{
  const double points[] = {0.1, 0.2, 0.6, 0.8}, low[] = {0, 0}, high[] = {1, 1};
  int n_classes, n_families;
  const RgAlgorithmClass *const *classes = rg_algorithm_classes(&n_classes);
  const RgBoundFamily *const *families = rg_bound_families(&n_families);
  RgText names = {0};

  for (int variant = 0; variant < 4; variant++) {
    RgDomain domain = {0};

    if (variant % 2) RG_OK(rg_space_set(&domain.design, 2, 2, points, low, high));
    else RG_OK(rg_space_box(&domain.design, 2, low, high));
    if (variant / 2) {
      RG_OK(rg_space_box(&domain.context, 1, low, high));
      domain.control = RG_CONTEXT_NATURE;
    }
    for (int i = 0; i < n_classes; i++)
      if (classes[i]->confidence) add_rules_of(classes[i], &domain, &names);
    RG_OK(rg_domain_destroy(&domain));
  }
  for (int i = 0; i < n_families; i++)
    for (int k = 0; families[i]->rules[k]; k++) {
      RgText padded = {0};

      RG_OK(rg_text_add(&padded, " %s ", families[i]->rules[k]));
      if (!strstr(names.data, padded.data)) fail_msg("no method names%s", padded.data);
      RG_OK(rg_text_clear(&padded));
    }
  RG_OK(rg_text_clear(&names));
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
