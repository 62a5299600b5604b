# Reading a results file in R: Rscript read_results.R RESULTS.h5
# Needs hdf5r (CRAN). With rhdf5 (Bioconductor) the same arrays are
#   h5read(path, "<problem>/simple_regret")
# R stores the first dimension fastest, so an array (trial, iteration) arrives as
# [iteration, trial].
library(hdf5r)

file <- H5File$new(commandArgs(trailingOnly = TRUE)[1], mode = "r")
for (problem in list.groups(file, recursive = FALSE)) {
  group <- file[[problem]]
  if (!("simple_regret" %in% names(group))) next
  regret <- group[["simple_regret"]]$read()
  if (is.null(dim(regret))) regret <- matrix(regret, ncol = 1)
  rows <- group[["n_iterations"]]$read()
  complete <- group[["status"]]$read() == 1
  last <- regret[cbind(pmax(rows, 1), seq_along(rows))]
  print(problem)
  print(aggregate(last[complete], list(algorithm = group[["algorithm"]]$read()[complete]), mean))
}
file$close_all()
