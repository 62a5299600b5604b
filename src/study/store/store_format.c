/* Generates docs/results-format.md from the tables that define the files. */

#include "study/record/fields.h"
#include "study/store/index.h"
#include "study/hdf5/container.h"
#include "study/file/cell_data.h"
#include "study/store/store.h"

static const char introduction[] =
  "# The results file\n\n"
  "This page is made by `regatta describe results-format` from the tables that write the\n"
  "file. Schema version %d.\n\n"
  "A study ends in one HDF5 file `OUT.h5` (earliest file format, no links to other files).\n"
  "While it runs, finished trials are committed as shards, complete files of the same schema,\n"
  "to the study directory `OUT.h5.d/`. Everything below holds for both.\n\n"
  "```\n"
  "/                      attributes of the study\n"
  "/PROBLEM               one group per problem label: trials x evaluations\n"
  "/PROBLEM/timing        wall and CPU seconds per evaluation\n"
  "/PROBLEM/provenance    where and when each trial ran\n"
  "/cells                 one row per cell: problem x algorithm x settings\n"
  "/cells/sweep           the sweep axes of the cells\n"
  "/cells/settings        every setting of the cells\n"
  "/provenance            software that wrote this file (results files only)\n"
  "/earlier/PROBLEM       trials that a later version of the study does not plan any more\n"
  "```\n\n"
  "The name of a group is the label itself, but for `/`, `%%` and control characters, which\n"
  "become `%%XX`, and with `_` in front unless it begins with a letter or digit. The\n"
  "attribute `problem_label` of the group has the label as it is.\n\n"
  "Every array has dimension scales with the names of its axes; every variable has the\n"
  "attributes `long_name`, `units` and `description`, but for those of `cells/settings`, which\n"
  "`regatta describe` explains. Texts have variable length and are UTF-8.\n"
  "Missing values are NaN: trials that are shorter than the longest of their group,\n"
  "coordinates that a trial does not have, and columns that an algorithm does not fill.\n"
  "Units: `y` means the units of the problem's f, `native` those of its inputs, `1` no unit.\n\n"
  "In a results file, columns of evaluations stand in chunks of whole trials, behind HDF5's own\n"
  "filters shuffle and deflate, which every reader undoes. A chunk without any value is not\n"
  "stored. Shards have no filters. A value that all trials or all cells have, such as `software`,\n"
  "is stored once, as the fill value of its variable.\n\n"
  "Regatta maximises. If a problem has `goal: minimise`, the file has the negative of the\n"
  "values of the user's program or table. This holds for `y`, `f`, `objective`, `optimum` and\n"
  "the numbers that a method derives from them. The table of cells has the goal.\n"
  "`regatta info`, figures, tables, pages and exports show `y`, `f`,\n"
  "`objective`, `optimum` and the best value with the user's own sign. Regret is the same for\n"
  "both goals.\n\n";

static const char reading[] =
  "## Reading\n\n"
  "```python\n"
  "import xarray as xr\n"
  "data = xr.open_dataset(\"OUT.h5\", group=\"branin\", engine=\"h5netcdf\")  # or netcdf4\n"
  "settings = [name for name in data.coords if \"setting\" in data[name].attrs]  # swept\n"
  "last = data.simple_regret.where(data.status == 1)[:, -1].to_dataframe()\n"
  "print(last.groupby([\"algorithm\", *settings], dropna=False)[\"simple_regret\"].median())\n"
  "```\n\n"
  "h5py, h5dump and R's rhdf5 read it as it is. The per-trial variables named in the\n"
  "attribute `coordinates` become coordinates in xarray.\n\n"
  "The cells with all their settings are two tables with the same rows. `cell` of a trial is the\n"
  "number of its row:\n\n"
  "```python\n"
  "import h5py, pandas as pd\n"
  "def table(group):  # a data frame of the columns\n"
  "    return pd.DataFrame({name: column.asstr()[()] if column.dtype.kind == \"O\" else "
  "column[()]\n"
  "                         for name, column in group.items() if isinstance(column, "
  "h5py.Dataset)})\n"
  "with h5py.File(\"OUT.h5\") as file:\n"
  "    cells = table(file[\"cells\"]).join(table(file[\"cells/settings\"]))\n"
  "    seconds = pd.Series(file[\"branin/provenance/wall\"][()])\n"
  "    "
  "print(seconds.groupby(cells[\"algorithm.beta\"].take(file[\"branin/cell\"]).values).mean())\n"
  "```\n\n"
  "```r\n"
  "cells <- as.data.frame(rhdf5::h5read(\"OUT.h5\", \"cells/settings\"))\n"
  "```\n\n";

static const char settings[] =
  "## Settings\n\n"
  "Every setting that a cell reads is a column of `cells/settings` with the name `PART.NAME`,\n"
  "where the part is run, problem, algorithm, surrogate, maximiser, crew, thinking, pending or "
  "noise.\n"
  "Defaults are filled in. Paths stand as in the study file. The attribute `swept` is 1 where\n"
  "the study sweeps the setting.\n\n"
  "Every setting that the study sweeps is also a variable of its own, in `cells/sweep` and of\n"
  "the trials of each problem. It has the name in the\n"
  "study file without the label: `noise_variance`, `surrogate.kernel`; `surrogate` where whole\n"
  "blocks are swept. Where another variable has that name, or settings of two parts have it,\n"
  "the part stands before it (`algorithm.exploration`, `problem.objective`). A value is\n"
  "missing if the cell does not read the setting, or its algorithm sets it itself: such a cell\n"
  "runs once and stands beside every value of the setting.\n\n"
  "| values | type | missing |\n| --- | --- | --- |\n"
  "| numbers | float64 | NaN |\n"
  "| whole numbers | int32, `_FillValue` | %d (NA in R) |\n"
  "| true or false | uint8, `flag_values`, `flag_meanings`, `_FillValue` | %d |\n"
  "| words; all other values as canonical text: lists, blocks `{name=value,...}`, numbers with "
  "`auto` "
  "among them | text | empty |\n\n"
  "Attributes of swept settings: `" RG_SETTING_ATTRIBUTE
  "` is the name again, and marks such a variable; "
  "`part` is the\nblock of the setting (run, problem, algorithm, surrogate, maximiser, crew, "
  "thinking, pending, noise); `units` "
  "and "
  "`description` are\nthose of the parameter (`regatta describe`). `" RG_SWEPT_AIMED "` is the "
  "measure that the\nqueries of a trial aim at, where a problem has `score`. Files of schema 2 "
  "have no\ntable of cells: there every trial has what belongs to its cell.\n\n";

static const char integrity[] =
  "## Integrity\n\n"
  "`checksum` of a trial is the XXH3-128 of this sequence of bytes: id, key and message, each\n"
  "with a NUL behind it; then as 64-bit numbers, least significant byte first: status,\n"
  "n_iterations, n_initial, n_dim_x, n_dim_c, n_dim_z, and the bits of optimum; then every\n"
  "column that has a value: first those that the root attribute `checksum_columns` names, in\n"
  "its order (it is that of the table above, without timing), then those of the algorithm by\n"
  "name. Each column gives its name and a NUL, the number of its values (those of this trial,\n"
  "without padding), their bits. -0 counts as 0, every NaN as 7ff8000000000000.\n"
  "The root attribute `checksum` adds up the checksums of all trials, so that their order does\n"
  "not matter: XXH3-128 of the number of trials and of the sum modulo 2^128, low half first,\n"
  "as three such numbers. Timing, provenance and labels are in neither.\n\n"
  "Behind the end of HDF5's part, where HDF5 does not look, stands a trailer of %d bytes:\n"
  "`RGTRAIL` and a newline, the length of what precedes, and the low and the high half of its\n"
  "XXH3-128, each least significant byte first. A shard without a fitting trailer is damaged:\n"
  "it is moved to `OUT.h5.d/%s/` and its trials run again. A results file may lose its\n"
  "trailer when another program writes to it; then the checksums of its trials\n"
  "decide.\n\n"
  "## The study directory\n\n"
  "`LEVEL-HASH.h5` are shards: level 0 as committed, higher levels merged from those below;\n"
  "the hash is that of the trailer. `.tmp.HOST.PID.N` are files being written; no program\n"
  "reads them. `%s/` has damaged shards, `%s/` shards without any trial of the present study.\n"
  "A file `STOP` ends a run cleanly. When the study is complete, its shards go into the\n"
  "results file and are removed.\n";

static const char exports[] =
  "\n## Exports\n\n"
  "`regatta_analysis export RESULTS --to FORMAT DIR` writes them for other programs.\n\n"
  "* `csv`: `trials.csv`, `evaluations.csv` (numbers that read back to the same bits; an "
  "apostrophe\n"
  "  before a text that a spreadsheet would compute, such as `=1+1`) and `study.json`.\n"
  "  A column `stopped` of `trials.csv` says which entry of `stop` ended a trial.\n"
  "* `parquet`: `trials.parquet`, `evaluations_PROBLEM.parquet`; where pyarrow is installed.\n"
  "* `netcdf`: `PROBLEM.nc`, netCDF-4 with attributes by CF-1.10 and ACDD-1.3; units that only\n"
  "  the problem knows stand in `comment`.\n"
  "* `coco`: `SUITE/ALGORITHM/bbobexp_fN.info` with `.dat` and `.tdat`, format bbob-new2. Values\n"
  "  are minimised (minus `objective`), evaluations count from the first of the initial design.\n"
  "  Functions of the suite bbob keep number and instance. Other problems have the suite\n"
  "  `regatta-STUDY` and their place among the problems of the study as number, whatever is\n"
  "  selected. Problems without a known optimum are left out.\n"
  "  cocopp 2.7.3 reads the folders `bbob/ALGORITHM`, one argument each. It shows dimensions\n"
  "  2, 3, 5, 10, 20 and 40, and refuses other suites, which it does not know.\n"
  "* `ioh`: `SUITE/ALGORITHM/IOHprofiler_fN_NAME.json` with `.dat`, the same runs in the format\n"
  "  of IOHprofiler (0.3.3 and later); `raw_y` is above the optimum where that is known.\n\n"
  "In both, every trial with an evaluation is a run, also one that failed. An evaluation that is\n"
  "infeasible or failed has the value 1e300. Where a selected trial did better than the optimum,\n"
  "the best value of its instance replaces the optimum. A run that `stop` ended has the\n"
  "evaluations that were made, and a comment has the number of such runs. Programs count values\n"
  "below its target regret as missed; in truth nobody knows.\n"
  "An export needs a new or empty folder, so that no older file is read along with it.\n";

static PetscErrorCode add_field(const RgFieldInfo *field, RgText *text)
{
  static const char *const types[] = {
    [RG_FIELD_TEXT] = "text",    [RG_FIELD_CHARS] = "text",   [RG_FIELD_INT] = "int32",
    [RG_FIELD_COUNT] = "uint64", [RG_FIELD_REAL] = "float64", [RG_FIELD_LOGICAL] = "uint8",
    [RG_FIELD_STATUS] = "uint8"};

  PetscCall(rg_text_add(text, "| `%s` | %s | %s | %s: %s |\n", field->name, types[field->type],
                        field->units, field->long_name, field->description));
  return 0;
}

static PetscErrorCode add_fields(RgText *text, bool provenance)
{
  PetscCall(rg_text_add(text,
                        provenance ? "## Per trial, in the subgroup `%s`\n\n" : "## Per trial\n\n",
                        RG_GROUP_PROVENANCE));
  PetscCall(rg_text_add(text, "| name | type | units | meaning |\n| --- | --- | --- | --- |\n"));
  for (int f = 0; f < rg_cell_field_count && !provenance; f++)
    if (rg_cell_fields[f].coordinate) PetscCall(add_field(&rg_cell_fields[f], text));
  for (int f = 0; f < rg_field_count; f++)
    if (rg_fields[f].provenance == provenance) PetscCall(add_field(&rg_fields[f], text));
  PetscCall(rg_text_add(text, "\n"));
  if (!provenance)
    PetscCall(rg_text_add(text,
                          "`status` is %d missing, %d complete or %d failed (`flag_values`, "
                          "`flag_meanings`).\n\n",
                          RG_STATUS_MISSING, RG_STATUS_COMPLETE, RG_STATUS_FAILED));
  return 0;
}

static PetscErrorCode add_columns(RgText *text, bool result)
{
  PetscCall(rg_text_add(
    text, result ? "## Per evaluation\n\n" : "## Per evaluation, in the subgroup `%s`\n\n",
    RG_GROUP_TIMING));
  PetscCall(rg_text_add(text, "| name | axes | units | meaning |\n| --- | --- | --- | --- |\n"));
  for (int c = 0; c < RG_COLUMN_COUNT; c++) {
    const RgColumnInfo *info = &rg_columns[c];
    const bool wide = info->width < 0;
    if (info->result == result)
      PetscCall(rg_text_add(text, "| `%s` | trial, iteration%s%s | %s | %s: %s |\n", info->name,
                            wide ? ", " : "",
                            wide ? rg_axes[rg_axis_of_width(info->width)].name : "", info->units,
                            info->long_name, info->description));
  }
  if (result)
    PetscCall(rg_text_add(
      text, "\nAlgorithms add columns of their own (trial, iteration); "
            "`regatta describe ALGORITHM` lists them. All values are "
            "float64.\n\n"
            "Where the coordinates of the design have names (`inputs` of the cell), `x_name` "
            "(dim_x) has them,\nand `x_seen` (trial, iteration, dim_x) the "
            "designs as they were evaluated: integers\nrounded, a choice as the "
            "number of its word from 0 (the words stand in the attribute\n"
            "`choices_NAME`), NaN where an input did not count. Both are made "
            "from `x` and\n`inputs` and are in no checksum; `x` is the query as "
            "the algorithm made it. `c_name`\nand `c_seen` are the same for "
            "contexts.\n"));
  PetscCall(rg_text_add(text, "\n"));
  return 0;
}

PetscErrorCode rg_format_document(RgText *text)
{
  PetscCall(rg_text_add(text, introduction, RG_SCHEMA_VERSION));
  PetscCall(rg_text_add(text, reading));
  PetscCall(rg_text_add(text, "## Attributes of the root\n\n| name | type | meaning |\n"
                              "| --- | --- | --- |\n"));
  for (int i = 0; i < rg_attribute_count; i++)
    PetscCall(rg_text_add(text, "| `%s` | %s | %s |\n", rg_attributes[i].name,
                          rg_attributes[i].type < RG_FIELD_INT ? "text" : "int64",
                          rg_attributes[i].description));
  PetscCall(rg_text_add(text, "\n## Axes of a group\n\n| name | first | meaning |\n"
                              "| --- | --- | --- |\n"));
  for (int a = 0; a < RG_AXIS_COUNT; a++)
    PetscCall(rg_text_add(text, "| `%s` | %d | %s |\n", rg_axes[a].name, rg_axes[a].first,
                          rg_axes[a].description));
  PetscCall(rg_text_add(text,
                        "\n`dim_c` exists where the problem has a context, `dim_z` where an "
                        "algorithm has a model, `score` where the problem has `score`, `term` "
                        "where a kernel is additive.\n\n"));
  PetscCall(add_fields(text, false));
  PetscCall(rg_text_add(text, "## Per cell, in the group `" RG_GROUP_CELLS "`\n\n"
                              "| name | type | units | meaning |\n| --- | --- | --- | --- |\n"));
  for (int f = 0; f < rg_cell_field_count; f++) PetscCall(add_field(&rg_cell_fields[f], text));
  PetscCall(rg_text_add(text,
                        "\nA results file has the cells of the study in the order of the "
                        "plan, then those of\n`earlier`. A shard has the cells of its "
                        "trials. The axis is `%s`.\n\n",
                        rg_axes[RG_AXIS_CELL].name));
  PetscCall(rg_text_add(text, settings, RG_NO_INTEGER, RG_NO_LOGICAL));
  PetscCall(add_columns(text, true));
  PetscCall(add_columns(text, false));
  PetscCall(add_fields(text, true));
  PetscCall(rg_text_add(text, integrity, RG_TRAILER_LENGTH, RG_FOLDER_BAD, RG_FOLDER_BAD,
                        RG_FOLDER_FOREIGN));
  PetscCall(rg_text_add(text, "%s", exports));
  return 0;
}
