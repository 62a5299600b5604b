/* regatta serve NAME: a problem that answers lines of JSON until its input ends. */
#include "cli/command.h"
#include "cli/named_problem.h"

#include <stdio.h>
#include <stdlib.h>

#include "extra/external/problem_server.h"

static const RgOption options[] = {
  RG_OPTIONS_NAMED_PROBLEM,
  {NULL, NULL, NULL},
};

/* Print one line after another. */
static PetscErrorCode converse(RgProblemServer *server)
{
  char *line = NULL;
  size_t size = 0;
  ssize_t length;

  while ((length = getline(&line, &size, stdin)) >= 0) {
    RgText answer = {0};
    PetscCall(rg_problem_server_answer(server, line, (size_t)length, &answer));
    rg_say("%s\n", answer.data);
    PetscCall(rg_text_clear(&answer));
    if (fflush(stdout)) break; /* the reader has closed the pipe */
  }
  free(line);
  return 0;
}

static PetscErrorCode run(const RgArguments *arguments, const RgRegistry *registry, int *exit_code)
{
  RgNamedProblem named;
  RgProblem problem = {0};
  RgFailure failure = {0};

  PetscCall(rg_named_problem_read(arguments, registry, &named));
  if (named.mistaken) {
    *exit_code = RG_EXIT_BAD_INPUT;
    return rg_named_problem_clear(&named);
  }
  PetscCall(
    rg_problem_create(named.class, named.options, named.seed, named.instance, &problem, &failure));
  RgProblemServer server = {.problem = &problem, .seed = named.seed};
  if (failure.failed) PetscCall(rg_refuse(exit_code, "%s: %s", named.command, failure.message));
  else PetscCall(converse(&server));
  PetscCall(rg_problem_server_clear(&server));
  PetscCall(rg_problem_destroy(&problem));
  return rg_named_problem_clear(&named);
}

const RgCommand rg_command_serve = {RG_USAGE("serve NAME [-set KEY=VALUE] ...", options, 1, 1),
                                    .place = RG_ON_RANK_0, .run = run};
