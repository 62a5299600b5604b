/* Parts of the program (extra/) that a build can omit. */
#ifndef RG_BASE_LEFT_OUT_H
#define RG_BASE_LEFT_OUT_H

/* The message about an omitted name; takes the name and the CMake option from rg_left_out. */
#define RG_LEFT_OUT "'%s' is not in this build: configure it with -D%s=ON"

/* The CMake option that adds the problem, algorithm or subcommand `name` to a build. NULL if
   this build has it, or no build does. Static. */
const char *rg_left_out(const char *name);

#endif
