# Reading a results file in R: Rscript read_results.R RESULTS.h5
# Needs hdf5r (CRAN). With rhdf5 (Bioconductor) the same arrays are
#   h5read(path, "<problem>/simple_regret")
# R stores the first dimension fastest, so an array (trial, iteration) arrives as
# [iteration, trial].
library(hdf5r)
options(width = 250) # one line per cell

# The swept settings of every trial; "" where it does not read one. Each is a variable with the
# attribute "setting".
settings_of <- function(group) {
  names <- Filter(function(name) group[[name]]$attr_exists("setting"), names(group))
  sapply(names, function(name) {
    value <- group[[name]]$read()
    if (group[[name]]$attr_exists("_FillValue")) {
      value[value == h5attr(group[[name]], "_FillValue")] <- NA
    }
    ifelse(is.na(value), "", as.character(value))
  }, simplify = FALSE)
}

file <- H5File$new(commandArgs(trailingOnly = TRUE)[1], mode = "r")
for (problem in list.groups(file, recursive = FALSE)) {
  group <- file[[problem]]
  if (!("simple_regret" %in% names(group))) next
  regret <- group[["simple_regret"]]$read()
  if (is.null(dim(regret))) regret <- matrix(regret, ncol = 1)
  rows <- group[["n_iterations"]]$read()
  complete <- group[["status"]]$read() == 1
  last <- regret[cbind(pmax(rows, 1), seq_along(rows))]
  cell <- c(list(algorithm = group[["algorithm"]]$read()), settings_of(group))
  print(problem)
  # Medians: simple regret is infinite until a design is feasible.
  print(aggregate(last[complete], lapply(cell, function(value) value[complete]), median))
}
file$close_all()
