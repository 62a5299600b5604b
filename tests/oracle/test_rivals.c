/* EDRBO and SWBBO against an independent program in NumPy: five data over a design and a context,
   all hyperparameters fixed, and the maximum of a grid of 4,001 designs. */
#include "test_problem.h"

#include "gp/model/model.h"
#include "regatta/algorithm.h"
#include "robust/sinkhorn.h"

typedef struct {
  RgDomain domain;
  RgSurrogateOptions surrogate;
  RgMaximiserOptions maximiser;
  RgHistory history;
  RgAlgorithm algorithm;
  const RgAlgorithmClass *class;
  void *options;
  double x, extra[8];
  RgQuery query;
} Bench;

/* settings: name, value; ends with NULL */
static void open_bench(Bench *b, const char *name, const char *const (*settings)[2], int more)
{
  static const char *const model[][2] = {
    {"kernel", "gaussian"}, {"length_scale", "0.3"}, {"variance", "1"}, {"noise_variance", "0.01"},
    {"fit", "fixed"},       {"standardise", "no"},   {"mean", "zero"},  {NULL, NULL}};
  const double x[] = {0.1, 0.35, 0.6, 0.8, 0.95}, c[] = {0.2, 0.5, 0.9, 0.4, 0.6},
               y[] = {0.3, 1, -0.4, 0.6, -0.2}, zero = 0, one = 1;

  *b = (Bench){.domain = {.control = RG_CONTEXT_NATURE},
               .class = rg_registry_find_algorithm(NULL, name)};
  RG_OK(rg_space_box(&b->domain.design, 1, &zero, &one));
  RG_OK(rg_space_box(&b->domain.context, 1, &zero, &one));
  RG_OK(rg_params_defaults(rg_surrogate_params, &b->surrogate));
  for (int i = 0; model[i][0]; i++)
    set_in(rg_surrogate_params, &b->surrogate, model[i][0], model[i][1]);
  RG_OK(rg_params_defaults(rg_maximiser_params, &b->maximiser));
  RG_OK(PetscCalloc(b->class->options_size, &b->options));
  RG_OK(rg_params_defaults(b->class->params, b->options));
  for (int i = 0; settings[i][0]; i++)
    set_in(b->class->params, b->options, settings[i][0], settings[i][1]);
  const RgSetup setup = {.domain = &b->domain,
                         .surrogate = &b->surrogate,
                         .maximiser = &b->maximiser,
                         .noise_variance = 0.01,
                         .n_initial = 5,
                         .n_iterations = 50,
                         .stream = rg_stream(1, "test", 0, name, 1)};
  RG_OK(rg_history_create(&b->domain, 64, &b->history));
  for (int i = 0; i < 5 + more; i++) {
    const int j = i % 5;
    const double shift = i / 5 * 0.01, at = x[j] - shift, context = c[j] + shift;
    RG_OK(rg_history_append(&b->history, &at, -1, &context, -1, y[j]));
  }
  b->query = (RgQuery){.x = &b->x, .extra = b->extra};
  RG_OK(rg_algorithm_create(b->class, b->options, &setup, &b->algorithm));
}

static void ask(Bench *b)
{
  RgFailure failure = {0};

  RG_OK(rg_algorithm_ask(&b->algorithm, 1, &b->history, &b->query, &failure));
  if (failure.failed) fail_msg("%s", failure.message);
}

static void close_bench(Bench *b)
{
  RG_OK(rg_algorithm_destroy(&b->algorithm));
  RG_OK(rg_history_destroy(&b->history));
  RG_OK(rg_params_clear(b->class->params, b->options));
  RG_OK(PetscFree(b->options));
  RG_OK(rg_domain_destroy(&b->domain));
  RG_OK(rg_params_clear(rg_surrogate_params, &b->surrogate));
}

/* extra[1] is the value of the acquisition function. */
static void compare(const char *name, const char *const (*settings)[2], double x, double value)
{
  Bench b;

  open_bench(&b, name, settings, 0);
  ask(&b);
  RG_CLOSE(b.x, x, 5e-4);
  RG_CLOSE(b.extra[1], value, 1e-6);
  close_bench(&b);
}

RG_TEST(edrbo)
{
  compare("edrbo", (const char *const[][2]){{"width", "0.3"}, {NULL, NULL}}, 0.3495,
          0.6912894925744569);
}

RG_TEST(swbbo_with_few_contexts)
{
  compare("swbbo", (const char *const[][2]){{"width", "0.5"}, {"radius", "0"}, {NULL, NULL}}, 0.483,
          1.2525030186478872);
  compare("swbbo",
          (const char *const[][2]){
            {"width", "0.5"}, {"radius", "0"}, {"aggregate", "mean"}, {NULL, NULL}},
          0.41125, 0.8982239620668953);
}

/* With many contexts the sample changes from query to query; without a radius the largest U of a
   sample is at most that of all contexts. The penalty lowers the value. */
RG_TEST(swbbo_samples_contexts)
{
  const char *const free[][2] = {{"radius", "0"}, {"samples", "3"}, {NULL, NULL}};
  const char *const all[][2] = {{"radius", "0"}, {"parts", "50"}, {NULL, NULL}};
  const char *const bound[][2] = {{"samples", "3"}, {NULL, NULL}};
  Bench b;
  double value[3];
  const char *const(*settings[])[2] = {all, free, bound};

  for (int k = 0; k < 3; k++) {
    open_bench(&b, "swbbo", settings[k], 30);
    ask(&b);
    value[k] = b.extra[1];
    close_bench(&b);
  }
  assert_true(value[1] <= value[0] + 1e-9 && value[2] < value[1]);
}

RG_TEST(sinkhorn)
{
  const double points[] = {0.1, 0.2, 0.4, 0.9, 0.7, 0.3, 0.25, 0.6};
  const double support[] = {0.1, 0.2, 0.5, 0.5, 0.9, 0.1, 0.3, 0.8, 0.7, 0.7};
  const double histograms[] = {0.5, 0.2, 0.1, 0.1, 0.1, 0.1, 0.1, 0.6,
                               0.1, 0.1, 0.2, 0.2, 0.2, 0.2, 0.2};
  const double weights[] = {0.24805143164671328, 0.1917512625722551, 0.17124919286468582,
                            0.19712824544721952, 0.19181986746912622};
  const double barycentre[] = {0.19919312853883134, 0.33581693216049224, 0.1996531531005871,
                               0.12209150445020515, 0.14324528174988424};
  double found[5];

  RG_OK(rg_sinkhorn_weights(2, 4, points, 5, support, 0.05, 3, found));
  for (int j = 0; j < 5; j++) RG_CLOSE(found[j], weights[j], 1e-13);
  RG_OK(rg_sinkhorn_barycentre(2, 5, support, 3, histograms, 0.05, 20, found));
  for (int j = 0; j < 5; j++) RG_CLOSE(found[j], barycentre[j], 1e-13);
}
