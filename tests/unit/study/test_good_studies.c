/* Study files that must be accepted: good_studies/, whose comments say how many cells and trials
   there are, and everything in experiments/. */
#include "reference_order.h"
#include "study_files.h"

#include <ftw.h>

/* Public data outside the repository may be missing, but nothing else may be wrong. */
static bool only_data_are_missing(const RgDiagnostics *diagnostics)
{
  if (!diagnostics->n || diagnostics->n > RG_DIAGNOSTICS_MAX) return false;
  for (int i = 0; i < diagnostics->n; i++)
    if (!strstr(diagnostics->list[i].message, "there is no file")) return false;
  return true;
}

static void check_good_file(const char *path, const char *text, size_t length)
{
  RgStudy study;
  RgPlan plan;
  RgDiagnostics diagnostics = {0};

  RG_OK(rg_study_parse(NULL, path, text, length, &study, &diagnostics));
  if (only_data_are_missing(&diagnostics)) {
    print_message("skipped: data of %s are not at hand (REGATTA_DATA)\n", path);
    RG_OK(rg_study_destroy(&study));
    return;
  }
  if (diagnostics.n)
    fail_msg("%s:%d:%d: %s", path, diagnostics.list[0].place.line, diagnostics.list[0].place.column,
             diagnostics.list[0].message);
  RG_OK(rg_plan_fill(&study, &plan));
  if (number_after(text, "# cells: ") >= 0) {
    assert_int_equal(study.n_cells, number_after(text, "# cells: "));
    assert_int_equal(plan.n, number_after(text, "# trials: "));
  }
  check_order_on(&plan, 2, NULL);
  check_order_on(&plan, 64, NULL);
  RG_OK(rg_plan_clear(&plan));
  RG_OK(rg_study_destroy(&study));
}

RG_TEST(good_studies_are_accepted)
{
  assert_true(for_each_study(RG_TEST_DATA "/unit/study/good_studies", check_good_file) >= 5);
}

/* Claims and arrangements of figures stand beside the studies of a paper; the example of a
   plug-in can't be read without its library. */
static void check_experiment(const char *path, const char *text, size_t length)
{
  static const char *const others[] = {"/claims.yaml", "/figures.yaml", "/settings.yaml",
                                       "/references.yaml", "/plugin/study.yaml"};

  for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
    if (strstr(path, others[i])) return;
  check_good_file(path, text, length);
}

static int check_folder(const char *path, const struct stat *info, int type, struct FTW *where)
{
  (void)info, (void)where;
  if (type == FTW_D) for_each_study(path, check_experiment);
  return 0;
}

RG_TEST(experiments_are_accepted)
{
  assert_int_equal(nftw(RG_TEST_DATA "/../experiments", check_folder, 8, 0), 0);
}
