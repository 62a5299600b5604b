/* Presets: named settings of the surrogate. */
#include "study/file/presets.h"

#include <string.h>

#define SET(key_, text_)                                                                           \
  {                                                                                                \
    .key = key_, .value = {                                                                        \
      .kind = RG_YAML_SCALAR,                                                                      \
      .text = text_,                                                                               \
      .plain = true,                                                                               \
      .weight = 1,                                                                                 \
      .height = 1                                                                                  \
    }                                                                                              \
  }

static const RgPresetSetting defaults[] = {{0}};

static const RgPresetSetting robust[] = {
  SET("transform", "yeo_johnson"), SET("restart_after", "12"), {0}};

static const RgPresetSetting fast[] = {SET("refit_every", "auto"), {0}};

/* log 2 = softplus(0): initial value of the raw hyperparameters in the 2023 defaults. */
static const RgPresetSetting botorch2023[] = {
  SET("kernel", "matern52"),     SET("prior", "botorch2023"), SET("deviation", "sample"),
  SET("fit_noise", "true"),      SET("noise_lower", "1e-4"),  SET("fit_warm", "auto"),
  SET("length_scale", "0.6931"), SET("variance", "0.6931"),   {0}};

static const RgPresetSetting botorch2024[] = {SET("kernel", "gaussian"),
                                              SET("prior", "botorch2024"),
                                              SET("deviation", "sample"),
                                              SET("fit_noise", "true"),
                                              SET("noise_lower", "1e-4"),
                                              SET("fit_warm", "auto"),
                                              SET("length_scale_lower", "0.025"),
                                              SET("fit_variance", "false"),
                                              SET("variance", "1"),
                                              {0}};

static const RgPresetSetting hebo[] = {
  SET("kernel", "matern32"), SET("transform", "yeo_johnson"), SET("input_warping", "kumaraswamy"),
  SET("fit_noise", "true"),  SET("noise_lower", "1e-6"),      {0}};

static const RgPresetSetting rugged[] = {
  SET("mean", "quadratic"),    SET("transform", "yeo_johnson"),
  SET("prior", "botorch2023"), SET("fit_noise", "true"),
  SET("fit_starts", "1"),      SET("fit_multistart", "always"),
  SET("refit_every", "3"),     {0}};

/* The choice of experiments/high_dimension, where no other prior ended ahead of the default one. */
static const RgPresetSetting high_dimension[] = {SET("maximiser.local_share", "0.5"), {0}};

const RgPreset rg_presets[] = {
  {"default", "to begin with, and where results are to compare with earlier ones", defaults},
  {"robust",
   "for an unknown function on a box: outputs over many powers of ten, several hills; takes "
   "twice the CPU time",
   robust},
  {"fast", "for trials of more than 300 evaluations: hyperparameters are fitted when due", fast},
  {"rugged",
   "for ripples on a bowl or a funnel, together with `incumbent: best_mean`: a quadratic mean, and "
   "noise that takes up the ripples; takes twice the CPU time",
   rugged},
  {"high_dimension",
   "for more than 40 inputs: half of the search begins near the best points; the prior stays the "
   "default one, which grows with the inputs (experiments/high_dimension compares settings)",
   high_dimension},
  {"botorch2023",
   "BoTorch's default until 2024 (arXiv:2312.10423): Matern-5/2, signal variance, gamma priors",
   botorch2023},
  {"botorch2024",
   "BoTorch's default since 0.12 (arXiv:2503.20341): Gaussian, unit variance, lognormal priors",
   botorch2024},
  {"hebo",
   "as HEBO (JAIR 74, 2022): Matern-3/2, Yeo-Johnson outputs, Kumaraswamy inputs, learned noise",
   hebo},
  {0}};

const RgPreset *rg_preset_find(const char *name)
{
  for (const RgPreset *preset = rg_presets; preset->name; preset++)
    if (!strcmp(preset->name, name)) return preset;
  return NULL;
}
