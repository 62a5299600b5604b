/* Subcommands in the order of `regatta help`: RG_COMMAND(name, "one line"). */
RG_COMMAND(run, "run a study, or resume it")
RG_COMMAND(plan, "what a study would do: trials, memory, estimated core-hours")
RG_COMMAND(list, "names of problems, algorithms, kernels")
RG_COMMAND(describe, "parameters, paper and needs of a problem, an algorithm or a study block")
RG_COMMAND(eval, "one value of a problem, its gradient, objective and optimum")
RG_COMMAND(status, "exit code 0 complete, 75 incomplete: for batch scripts")
RG_COMMAND(checksum, "one number for all results, independent of ranks, hosts and time")
RG_COMMAND(new, "a working skeleton of an algorithm or a problem, and the line that registers it")
