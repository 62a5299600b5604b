c     The two routines of LINPACK that L-BFGS-B calls, by LAPACK, as in
c     Debian's build of it: equal bits with the same LAPACK.
      subroutine dpofa(a, lda, n, info)
      integer lda, n, info
      double precision a(lda, *)
      external dpotrf
      call dpotrf('U', n, a, lda, info)
      end

c     job: tens 0 solves with T, 1 with its transpose; ones 0 a lower
c     triangle, 1 an upper one.
      subroutine dtrsl(t, ldt, n, b, job, info)
      integer ldt, n, job, info
      double precision t(ldt, *), b(*)
      character triangle, form
      external dtrtrs
      triangle = 'L'
      if (mod(job, 10) .ne. 0) triangle = 'U'
      form = 'N'
      if (mod(job, 100) / 10 .ne. 0) form = 'T'
      call dtrtrs(triangle, form, 'N', n, 1, t, ldt, b, max(n, 1), info)
      end
