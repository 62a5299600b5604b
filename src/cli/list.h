/* Subcommands in the order of `regatta help`: RG_COMMAND(name, "one line"). */
RG_COMMAND(run, "run a study, or resume it")
RG_COMMAND(plan, "trials, memory and estimated core-hours of a study, without running it")
RG_COMMAND(list, "names of problems, algorithms, kernels, measures, bounds")
RG_COMMAND(describe, "parameters, paper and needs of a problem, an algorithm or a study block")
RG_COMMAND(eval, "one value of a problem, its gradient, objective and optimum")
#ifndef RG_NO_EXTERNAL
RG_COMMAND(serve, "a problem that answers lines of JSON, for programs in other languages")
#endif
RG_COMMAND(bounds, "regret bounds and confidence parameters of a study; a formula over columns")
RG_COMMAND(info, "contents of a results file, or of a study that is still running")
RG_COMMAND(status, "progress of a study; exit code 0 complete, 75 incomplete, for batch scripts")
RG_COMMAND(checksum, "one number for all results, independent of ranks, hosts and time")
RG_COMMAND(verify, "checksums, completeness, and a sample of trials run again")
RG_COMMAND(merge, "join results files of one study that ran in parts")
RG_COMMAND(version, "versions of the program and its libraries, numeric fingerprint")
RG_COMMAND(selftest, "checks of an installation: small studies, their checksums, a page")
RG_COMMAND(new, "a working skeleton of an algorithm, problem or kernel, or of a plug-in")
RG_COMMAND(help, "this list, or more about one command; man pages and completion")
