/* The jobs of a team, the same code on every rank. */
#include "gp/team/team_internal.h"

/* ---- kernels as numbers -------------------------------------------------------------------- */

void rg_kernel_pack(const RgKernel *kernel, int *n_ints, int *ints, int *n_reals, double *reals)
{
  int i = 0, r = 0;
#define INT(value) (ints ? (void)(ints[i] = (value)) : (void)0, i++)
#define REAL(value) (reals ? (void)(reals[r] = (value)) : (void)0, r++)
  INT(kernel->dim);
  INT(kernel->n_terms);
  INT(kernel->warp != NULL);
  for (int j = 0; kernel->warp && j < 2 * kernel->dim; j++) REAL(kernel->warp[j]);
  for (int t = 0; t < kernel->n_terms; t++) {
    const RgKernelTerm *term = &kernel->terms[t];
    REAL(term->variance);
    INT(term->n_factors);
    for (int f = 0; f < term->n_factors; f++) {
      const RgKernelFactor *factor = &term->factors[f];
      INT((int)factor->family);
      INT(factor->n_inputs);
      INT(factor->n_scales);
      INT(factor->shift);
      REAL(factor->shape);
      for (int k = 0; k < factor->n_inputs; k++) INT(factor->inputs[k]);
      INT(factor->words != NULL);
      for (int k = 0; factor->words && k < factor->n_inputs; k++) INT(factor->words[k]);
      for (int k = 0; k < factor->n_scales; k++) REAL(factor->length_scale[k]);
    }
  }
#undef INT
#undef REAL
  *n_ints = i;
  *n_reals = r;
}

PetscErrorCode rg_kernel_unpack(const int *ints, const double *reals, RgKernel *kernel)
{
  PetscFunctionBeginUser;
  *kernel = (RgKernel){.dim = ints[0], .n_terms = ints[1]};
  ints += 2;
  if (*ints++) {
    PetscCall(PetscMalloc1(2 * (size_t)kernel->dim, &kernel->warp));
    for (int j = 0; j < 2 * kernel->dim; j++) kernel->warp[j] = *reals++;
  }
  PetscCall(PetscCalloc1(kernel->n_terms, &kernel->terms));
  for (int t = 0; t < kernel->n_terms; t++) {
    RgKernelTerm *term = &kernel->terms[t];
    term->variance = *reals++;
    term->n_factors = *ints++;
    PetscCall(PetscCalloc1(term->n_factors, &term->factors));
    for (int f = 0; f < term->n_factors; f++) {
      RgKernelFactor *factor = &term->factors[f];
      factor->family = (RgKernelFamily)*ints++;
      factor->n_inputs = *ints++;
      factor->n_scales = *ints++;
      factor->shift = *ints++;
      factor->shape = *reals++;
      PetscCall(PetscMalloc1(factor->n_inputs, &factor->inputs));
      PetscCall(PetscMalloc1(factor->n_scales, &factor->length_scale));
      for (int k = 0; k < factor->n_inputs; k++) factor->inputs[k] = *ints++;
      if (*ints++) {
        PetscCall(PetscMalloc1(factor->n_inputs, &factor->words));
        for (int k = 0; k < factor->n_inputs; k++) factor->words[k] = *ints++;
      }
      for (int k = 0; k < factor->n_scales; k++) factor->length_scale[k] = *reals++;
    }
  }
  PetscFunctionReturn(0);
}

/* ---- jobs ---------------------------------------------------------------------------------- */

static PetscErrorCode create(RgTeam *team, const RgTeamJob *job)
{
  const int slot = job->command.slot;

  PetscFunctionBeginUser;
  if (slot >= team->n_slots) {
    PetscCall(PetscRealloc((size_t)(slot + 1) * sizeof *team->slots, &team->slots));
    while (team->n_slots <= slot) team->slots[team->n_slots++] = NULL;
  }
  PetscCall(rg_distributed_create(team->comm, &job->kernel, 0.0, 0.0, job->command.n, 0,
                                  &team->slots[slot]));
  PetscFunctionReturn(0);
}

/* The place of a result: the leader's array, or scratch on the other ranks. */
static PetscErrorCode outputs(RgTeamJob *job, size_t count, int which, double **scratch)
{
  PetscFunctionBeginUser;
  *scratch = NULL;
  if (job->out[which]) PetscFunctionReturn(0);
  PetscCall(PetscMalloc1(count, scratch));
  job->out[which] = *scratch;
  PetscFunctionReturn(0);
}

static PetscErrorCode predict(RgDistributed *posterior, RgTeamJob *job)
{
  const RgTeamCommand *c = &job->command;
  double *mean, *variance = NULL;

  PetscFunctionBeginUser;
  PetscCall(outputs(job, (size_t)c->n, 0, &mean));
  if (c->lower) PetscCall(outputs(job, (size_t)c->n, 1, &variance));
  PetscCall(rg_distributed_predict(posterior, c->n, job->array[0], job->out[0],
                                   c->lower ? job->out[1] : NULL));
  PetscCall(PetscFree(mean));
  PetscCall(PetscFree(variance));
  PetscFunctionReturn(0);
}

static PetscErrorCode gradient(RgDistributed *posterior, RgTeamJob *job)
{
  double *G;

  PetscFunctionBeginUser;
  PetscCall(outputs(job, job->command.count[0], 0, &G));
  PetscCall(rg_distributed_gradient(posterior, job->command.n, job->array[0], job->array[1],
                                    job->command.count[2] ? job->array[2] : NULL, job->out[0]));
  PetscCall(PetscFree(G));
  PetscFunctionReturn(0);
}

static PetscErrorCode objective(RgTeam *team, RgTeamJob *job)
{
  const RgTeamCommand *c = &job->command;
  const size_t size = (size_t)c->kernel_reals + 1; /* hyperparameters and the noise */
  double *value, *slope = NULL, mean = c->mean;

  PetscFunctionBeginUser;
  PetscCall(outputs(job, 1, 0, &value));
  if (c->lower) PetscCall(outputs(job, size, 1, &slope));
  PetscCall(rg_distributed_objective(&(RgSpread){team->comm, 0}, &job->kernel, c->noise_variance,
                                     c->upper, &mean, &(RgData){c->n, job->array[0], job->array[1]},
                                     job->out[0], c->lower ? job->out[1] : NULL));
  if (job->out[2]) *job->out[2] = mean;
  PetscCall(PetscFree(value));
  PetscCall(PetscFree(slope));
  PetscFunctionReturn(0);
}

static PetscErrorCode path(RgTeam *team, RgTeamJob *job)
{
  double *f, *jitter;

  PetscFunctionBeginUser;
  PetscCall(outputs(job, (size_t)job->command.n, 0, &f));
  PetscCall(outputs(job, 1, 1, &jitter));
  PetscCall(rg_distributed_sample_path(&(RgSpread){team->comm, 0}, &job->kernel, job->command.n,
                                       job->array[0], job->array[1], job->out[0], job->out[1],
                                       job->failure));
  PetscCall(PetscFree(f));
  PetscCall(PetscFree(jitter));
  PetscFunctionReturn(0);
}

static PetscErrorCode work(RgTeam *team, const RgTeamJob *job)
{
  const RgTeamCommand *c = &job->command;
  RgTeamTask task = {.code = c->code,
                     .n = c->n,
                     .noise_variance = c->noise_variance,
                     .mean = c->mean,
                     .kernel = c->kernel_ints ? &job->kernel : NULL};

  PetscFunctionBeginUser;
  for (int a = 0; a < RG_TEAM_ARRAYS; a++) {
    task.count[a] = c->count[a];
    task.array[a] = job->array[a];
    task.out[a] = job->out[a];
  }
  if (c->slot >= team->n_states) {
    PetscCall(PetscRealloc((size_t)(c->slot + 1) * sizeof *team->states, &team->states));
    while (team->n_states <= c->slot) team->states[team->n_states++] = NULL;
  }
  PetscCall(team->worker(team->comm, &task, &team->states[c->slot]));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_team_do(RgTeam *team, RgTeamJob *job)
{
  const RgTeamCommand *c = &job->command;
  RgDistributed *p = c->slot < team->n_slots ? team->slots[c->slot] : NULL;

  PetscFunctionBeginUser;
  switch (c->operation) {
  case RG_TEAM_DISMISS: break;
  case RG_TEAM_CREATE: PetscCall(create(team, job)); break;
  case RG_TEAM_DESTROY: PetscCall(rg_distributed_destroy(&team->slots[c->slot])); break;
  case RG_TEAM_SET:
    PetscCall(rg_distributed_set(p, c->kernel_ints ? &job->kernel : NULL, c->noise_variance,
                                 c->mean, c->n, job->array[0], job->array[1], job->failure));
    break;
  case RG_TEAM_APPEND:
    PetscCall(rg_distributed_append(p, c->n, job->array[0], job->array[1], job->failure));
    break;
  case RG_TEAM_KEEP: PetscCall(rg_distributed_keep(p)); break;
  case RG_TEAM_PEND: PetscCall(rg_distributed_pend(p, job->array[0], *job->array[1])); break;
  case RG_TEAM_RESTORE: PetscCall(rg_distributed_restore(p)); break;
  case RG_TEAM_OUTPUTS: PetscCall(rg_distributed_set_outputs(p, c->mean, job->array[0])); break;
  case RG_TEAM_PREDICT: PetscCall(predict(p, job)); break;
  case RG_TEAM_GRADIENT: PetscCall(gradient(p, job)); break;
  case RG_TEAM_SOLVE:
    PetscCall(rg_distributed_solve(p, c->lower, c->upper, c->n, job->array[0]));
    break;
  case RG_TEAM_OBJECTIVE: PetscCall(objective(team, job)); break;
  case RG_TEAM_PATH: PetscCall(path(team, job)); break;
  case RG_TEAM_TASK: PetscCall(work(team, job)); break;
  }
  PetscFunctionReturn(0);
}
