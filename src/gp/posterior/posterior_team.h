/* The part of a posterior that works on the other ranks of a team. */
#ifndef RG_GP_POSTERIOR_POSTERIOR_TEAM_H
#define RG_GP_POSTERIOR_POSTERIOR_TEAM_H

#include "gp/team/team.h"

/* The worker of a team for posteriors without a matrix (rg_team_employ). */
extern const RgTeamWorker rg_posterior_worker;

#endif
