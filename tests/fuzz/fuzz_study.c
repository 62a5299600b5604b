/* libFuzzer: the parser of study files, and the plan of every accepted file. */
#include "fuzz.h"

#include "study/plan/plan.h"

int rg_fuzz_one(const uint8_t *data, size_t size)
{
  RgStudy study;
  RgDiagnostics diagnostics = {0};
  RgPlan plan;
  char *text;

  FUZZ_OK(PetscMalloc1(size + 1, &text)); /* the contract: a NUL behind the text */
  memcpy(text, data, size);
  text[size] = '\0';
  FUZZ_OK(rg_study_parse(NULL, "fuzz.yaml", text, size, &study, &diagnostics));
  for (int i = 0; i < diagnostics.n && i < RG_DIAGNOSTICS_MAX; i++)
    FUZZ_HOLDS(diagnostics.list[i].message[0] && !strchr(diagnostics.list[i].message, '\n'));
  if (!diagnostics.n) {
    FUZZ_HOLDS(study.n_cells > 0 && study.n_seeds > 0 && study.name[0]);
    FUZZ_OK(rg_plan_fill(&study, &plan));
    FUZZ_HOLDS(plan.n >= study.n_cells);
    FUZZ_OK(rg_plan_clear(&plan));
  }
  FUZZ_OK(rg_study_destroy(&study));
  FUZZ_OK(PetscFree(text));
  return 0;
}
