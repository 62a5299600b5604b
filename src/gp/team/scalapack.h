/* Prototypes of the routines of BLACS, PBLAS and ScaLAPACK that gp/ calls; no package ships
   them. Global indices (ia, ja, ib, jb, ic, jc) start at 1. Routines written in Fortran take the
   lengths of their texts at the end; PBLAS is written in C and does not. Internal to gp/. */
#ifndef RG_GP_TEAM_SCALAPACK_H
#define RG_GP_TEAM_SCALAPACK_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

#include "regatta/error.h"

enum { RG_DESCRIPTOR = 9 }; /* ints of an array descriptor */

/* Whether this build has ScaLAPACK. Without it every trial belongs to one rank, creating a grid
   fails, and nothing calls the functions below, which are then missing. */
#ifdef RG_NO_SCALAPACK
#define RG_SCALAPACK __attribute__((weak))
#else
#define RG_SCALAPACK
#endif
static inline bool rg_scalapack_available(void)
{
#ifdef RG_NO_SCALAPACK
  return false;
#else
  return true;
#endif
}

/* BLACS */
RG_SCALAPACK int Csys2blacs_handle(MPI_Comm comm);
RG_SCALAPACK void Cfree_blacs_system_handle(int handle);
RG_SCALAPACK void Cblacs_gridinit(int *context, const char *order, int rows, int columns);
RG_SCALAPACK void Cblacs_gridinfo(int context, int *rows, int *columns, int *row, int *column);
RG_SCALAPACK void Cblacs_gridexit(int context);

/* ScaLAPACK tools */
RG_SCALAPACK void descinit_(int *descriptor, const int *m, const int *n, const int *mb,
                            const int *nb, const int *first_row, const int *first_column,
                            const int *context, const int *ld, int *info);

/* PBLAS */
RG_SCALAPACK void pdtrsm_(const char *side, const char *uplo, const char *trans, const char *diag,
                          const int *m, const int *n, const double *alpha, const double *a,
                          const int *ia, const int *ja, const int *desc_a, double *b, const int *ib,
                          const int *jb, const int *desc_b);
RG_SCALAPACK void pdsyrk_(const char *uplo, const char *trans, const int *n, const int *k,
                          const double *alpha, const double *a, const int *ia, const int *ja,
                          const int *desc_a, const double *beta, double *c, const int *ic,
                          const int *jc, const int *desc_c);

/* ScaLAPACK */
RG_SCALAPACK void pdpotrf_(const char *uplo, const int *n, double *a, const int *ia, const int *ja,
                           const int *desc_a, int *info, size_t uplo_length);

/* PBLAS calls this function for its block size. Our definition replaces the library's. */
RG_API int pilaenv_(const int *context, const char *precision, size_t length);

#endif
