/* Subcommands in the order of `regatta help`: RG_COMMAND(name, "one line"). */
RG_COMMAND(run, "run a study, or resume it")
