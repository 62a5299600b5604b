/* EDRBO and SWBBO against an independent program in NumPy: five data over a design and a context,
   all hyperparameters fixed, and the maximum of a grid of 4,001 designs. */
#include "algorithm_bench.h"

#include "robust/sinkhorn.h"

static void open_bench(Bench *b, const char *name, const Setting *settings, int more)
{
  static const Setting model[] = {
    {"kernel", "gaussian"}, {"length_scale", "0.3"}, {"variance", "1"}, {"noise_variance", "0.01"},
    {"fit", "fixed"},       {"standardise", "no"},   {"mean", "zero"}};
  const double x[] = {0.1, 0.35, 0.6, 0.8, 0.95}, c[] = {0.2, 0.5, 0.9, 0.4, 0.6},
               y[] = {0.3, 1, -0.4, 0.6, -0.2}, zero = 0, one = 1;

  *b = (Bench){.domain = {.control = RG_CONTEXT_NATURE}};
  RG_OK(rg_space_box(&b->domain.design, 1, &zero, &one));
  RG_OK(rg_space_box(&b->domain.context, 1, &zero, &one));
  bench_class(b, name);
  for (size_t i = 0; i < sizeof model / sizeof *model; i++)
    set_in(rg_surrogate_params, &b->surrogate, model[i][0], model[i][1]);
  for (int i = 0; settings[i][0]; i++) bench_set(b, settings[i][0], settings[i][1]);
  bench_create(b,
               (RgSetup){.noise_variance = 0.01,
                         .n_initial = 5,
                         .n_iterations = 50,
                         .stream = rg_stream(1, "test", 0, name, 1)},
               64);
  for (int i = 0; i < 5 + more; i++) {
    const int j = i % 5;
    const double shift = i / 5 * 0.01, at = x[j] - shift, context = c[j] + shift;
    RG_OK(rg_history_append(&b->history, &at, -1, &context, -1, y[j]));
  }
  bench_ask(b, 1);
}

/* extra[1] is the value of the acquisition function. */
static void compare(const char *name, const Setting *settings, double x, double value)
{
  RG_OWNED(bench_end) Bench b;

  open_bench(&b, name, settings, 0);
  RG_CLOSE(b.x[0], x, 5e-4);
  RG_CLOSE(b.extra[1], value, 1e-6);
}

RG_TEST(edrbo)
{
  compare("edrbo", (const Setting[]){{"width", "0.3"}, {NULL, NULL}}, 0.3495, 0.6912894925744569);
}

RG_TEST(swbbo_with_few_contexts)
{
  compare("swbbo", (const Setting[]){{"width", "0.5"}, {"radius", "0"}, {NULL, NULL}}, 0.483,
          1.2525030186478872);
  compare("swbbo",
          (const Setting[]){{"width", "0.5"}, {"radius", "0"}, {"aggregate", "mean"}, {NULL, NULL}},
          0.41125, 0.8982239620668953);
}

/* With many contexts the sample changes from query to query; without a radius the largest U of a
   sample is at most that of all contexts. The penalty lowers the value. */
RG_TEST(swbbo_samples_contexts)
{
  const Setting free[] = {{"radius", "0"}, {"samples", "3"}, {NULL, NULL}};
  const Setting all[] = {{"radius", "0"}, {"parts", "50"}, {NULL, NULL}};
  const Setting bound[] = {{"samples", "3"}, {NULL, NULL}};
  Bench b;
  double value[3];
  const Setting *const settings[] = {all, free, bound};

  for (int k = 0; k < 3; k++) {
    open_bench(&b, "swbbo", settings[k], 30);
    value[k] = b.extra[1];
    bench_end(&b);
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
