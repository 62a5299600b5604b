/* The trial loop: ask, evaluate, tell, record. */
#ifndef RG_STUDY_TRIAL_TRIAL_H
#define RG_STUDY_TRIAL_TRIAL_H

#include "study/store/evaluation_log.h"
#include "study/trial/instances.h"
#include "study/record/record.h"

/* Asked after every evaluation, and now and then while one is waited for: true stops the trial
   without a record (it will be run again). */
typedef bool (*RgStopFunction)(void *closure);

/* Who runs a trial. All borrowed; zeroed: nobody stops it and nothing is kept. */
typedef struct {
  RgStopFunction stop; /* NULL: nobody */
  void *stop_closure;
  const char *directory; /* study directory, where costly evaluations are logged; NULL: none */
  const RgEvaluationLog *known; /* costly evaluations come from here alone: one that isn't there
                                   fails the trial; NULL: they are made */
  RgChild **child;              /* program of external problems, kept from trial to trial; NULL:
                                   each trial starts its own */
  RgInstances *instances;       /* problems and optima kept from trial to trial; NULL: each trial
                                   makes its own */
  RgTeam *team;                 /* whose leader runs the trial while the others serve; NULL: none.
                                   Same bits as without it unless it takes something
                                   (rg_team_takes) */
  RgFault trouble;              /* out: the log of evaluations could not be written for ten
                                   minutes, or until a stop was asked for, and the trial was
                                   stopped */
} RgTrialHost;

/* Run one trial to its record. *stopped: it was interrupted and there is no record. A numerical
   failure gives a record of status failed with the rows finished before it. Same bits on any rank.
   host: NULL is a zeroed one. Evaluations of costly problems that an earlier run of the trial
   logged are not made again; new ones are on the disk before they are used. */
PetscErrorCode rg_trial_run(const RgStudy *study, const RgTrial *trial, RgTrialHost *host,
                            RgRecord *record, bool *stopped);

/* Whether F of a problem is known where it was observed and nowhere else. */
static inline bool rg_problem_is_observed(const RgProblemClass *problem)
{
  return problem->costly && !problem->objective;
}
/* Give a finished record of such a problem another optimum (NaN: unknown): regrets and message
   become those that a run with this optimum records. Nothing is evaluated. */
PetscErrorCode rg_trial_rescore(const RgCell *cell, double optimum, RgRecord *record);

#endif
