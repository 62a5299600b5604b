/* Presets: named settings of the surrogate. */
#include "study/file/presets.h"

#include <stddef.h>

const RgPreset rg_presets[RG_PRESETS_MAX] = {
  {"default", "to begin with, and where results are to compare with earlier ones", ""},
  {"robust",
   "for an unknown function on a box: outputs over many powers of ten, several hills; takes "
   "twice the CPU time",
   "transform: yeo_johnson, restart_after: 12"},
  {"fast", "for trials of more than 300 evaluations: hyperparameters are fitted when due",
   "refit_every: auto"},
  {"rugged",
   "for ripples on a bowl or a funnel, together with `incumbent: best_mean`: a quadratic mean, and "
   "noise that takes up the ripples; takes twice the CPU time",
   "mean: quadratic, transform: yeo_johnson, prior: botorch2023, fit_noise: true, fit_starts: 1, "
   "fit_multistart: always, refit_every: 3"},
  /* The choice of experiments/high_dimension, where no other prior ended ahead of the default. */
  {"high_dimension",
   "for more than 40 inputs: half of the search begins near the best points; the prior stays the "
   "default one, which grows with the inputs (experiments/high_dimension compares settings)",
   "maximiser.local_share: 0.5"},
  /* log 2 = softplus(0): initial value of the raw hyperparameters in the 2023 defaults. */
  {"botorch2023",
   "BoTorch's default until 2024 (arXiv:2312.10423): Matern-5/2, signal variance, gamma priors",
   "kernel: matern52, prior: botorch2023, deviation: sample, fit_noise: true, noise_lower: 1e-4, "
   "fit_warm: auto, length_scale: 0.6931, variance: 0.6931"},
  {"botorch2024",
   "BoTorch's default since 0.12 (arXiv:2503.20341): Gaussian, unit variance, lognormal priors",
   "kernel: gaussian, prior: botorch2024, deviation: sample, fit_noise: true, noise_lower: 1e-4, "
   "fit_warm: auto, length_scale_lower: 0.025, fit_variance: false, variance: 1"},
  {"hebo",
   "as HEBO (JAIR 74, 2022): Matern-3/2, Yeo-Johnson outputs, Kumaraswamy inputs, learned noise",
   "kernel: matern32, transform: yeo_johnson, input_warping: kumaraswamy, fit_noise: true, "
   "noise_lower: 1e-6"},
  {0}};
