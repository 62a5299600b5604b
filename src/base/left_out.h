/* Parts of the program (extra/) that a build can leave out. */
#ifndef RG_BASE_LEFT_OUT_H
#define RG_BASE_LEFT_OUT_H

/* A message about a name, and the option of CMake that rg_left_out gives for it. */
#define RG_LEFT_OUT "'%s' is not in this build: configure it with -D%s=ON"

/* The option of CMake that adds what the name stands for (a problem, an algorithm, a subcommand) to
   a build; NULL where this build has it, or no build does. Static. */
const char *rg_left_out(const char *name);

#endif
