/* Stand-ins for builds without ScaLAPACK. In such a build every trial belongs to one rank, so
   nothing reaches these functions: creating a grid fails first. */
#include "gp/team/scalapack.h"

#ifndef RG_NO_SCALAPACK

bool rg_scalapack_available(void)
{
  return true;
}

#else

bool rg_scalapack_available(void)
{
  return false;
}

int Csys2blacs_handle(MPI_Comm comm)
{
  (void)comm;
  return -1;
}

void Cfree_blacs_system_handle(int handle)
{
  (void)handle;
}

void Cblacs_gridinit(int *context, const char *order, int rows, int columns)
{
  (void)order, (void)rows, (void)columns;
  *context = -1;
}

void Cblacs_gridinfo(int context, int *rows, int *columns, int *row, int *column)
{
  (void)context;
  *rows = *columns = *row = *column = 0;
}

void Cblacs_gridexit(int context)
{
  (void)context;
}

void descinit_(int *descriptor, const int *m, const int *n, const int *mb, const int *nb,
               const int *first_row, const int *first_column, const int *context, const int *ld,
               int *info)
{
  (void)descriptor, (void)m, (void)n, (void)mb, (void)nb;
  (void)first_row, (void)first_column, (void)context, (void)ld;
  *info = -1;
}

void pdtrsm_(const char *side, const char *uplo, const char *trans, const char *diag, const int *m,
             const int *n, const double *alpha, const double *a, const int *ia, const int *ja,
             const int *desc_a, double *b, const int *ib, const int *jb, const int *desc_b)
{
  (void)side, (void)uplo, (void)trans, (void)diag, (void)m, (void)n, (void)alpha, (void)a;
  (void)ia, (void)ja, (void)desc_a, (void)b, (void)ib, (void)jb, (void)desc_b;
}

void pdsyrk_(const char *uplo, const char *trans, const int *n, const int *k, const double *alpha,
             const double *a, const int *ia, const int *ja, const int *desc_a, const double *beta,
             double *c, const int *ic, const int *jc, const int *desc_c)
{
  (void)uplo, (void)trans, (void)n, (void)k, (void)alpha, (void)a, (void)ia, (void)ja;
  (void)desc_a, (void)beta, (void)c, (void)ic, (void)jc, (void)desc_c;
}

void pdpotrf_(const char *uplo, const int *n, double *a, const int *ia, const int *ja,
              const int *desc_a, int *info, size_t uplo_length)
{
  (void)uplo, (void)n, (void)a, (void)ia, (void)ja, (void)desc_a, (void)uplo_length;
  *info = -1;
}

#endif
