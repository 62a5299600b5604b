/* Generates docs/results-format.md from the tables that define the files. */

#include "study/record/fields.h"
#include "study/store/index.h"
#include "study/hdf5/container.h"
#include "study/file/cell_data.h"
#include "study/store/store.h"

static const char introduction[] =
  "# The results file\n\n"
  "A study ends in one HDF5 file `OUT.h5`, which h5py, xarray, h5dump and R read without our\n"
  "code. `regatta describe results-format` makes this page from the tables that write the file,\n"
  "here of schema version %d. While a study runs, finished trials are committed as shards,\n"
  "complete files of the same schema, to the study directory `OUT.h5.d/`.\n\n"
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
  "- The name of a group is the label, but `/`, `%%` and control characters become `%%XX`, and\n"
  "  `_` stands in front unless it begins with a letter or digit. The attribute `problem_label`\n"
  "  has the label as it is.\n"
  "- Every array has dimension scales with the names of its axes; every variable has the\n"
  "  attributes `long_name`, `units` and `description`, but for those of `cells/settings`, which\n"
  "  `regatta describe` explains. Texts have variable length and are UTF-8.\n"
  "- Missing values are NaN: trials that are shorter than the longest of their group,\n"
  "  coordinates that a trial does not have, and columns that an algorithm does not fill.\n"
  "- Units: `y` means the units of the problem's f, `native` those of its inputs. A variable\n"
  "  without a unit has `1`.\n"
  "- Columns of evaluations stand in chunks of whole trials, behind HDF5's own filters shuffle\n"
  "  and deflate. A chunk without any value is not stored. Shards have no filters, archives no\n"
  "  shuffle, and an archive lacks columns without any value. A value that all trials or all\n"
  "  cells have is stored once, as the fill value of its variable.\n"
  "- Regatta maximises. If a problem has `goal: minimise`, `y`, `f`, `objective`, `optimum` and\n"
  "  the numbers that a method derives from them are the negative of the user's values. `regatta\n"
  "  info`, figures, tables, pages and exports show these with the user's own sign. Regret is\n"
  "  the same for both goals.\n\n";

static const char reading[] =
  "## Reading\n\n"
  "```python\n"
  "import xarray as xr\n"
  "data = xr.open_dataset(\"OUT.h5\", group=\"branin\", engine=\"h5netcdf\")  # or netcdf4\n"
  "settings = [name for name in data.coords if \"setting\" in data[name].attrs]  # swept\n"
  "last = data.simple_regret.where(data.status == 1)[:, -1].to_dataframe()\n"
  "print(last.groupby([\"algorithm\", *settings], dropna=False)[\"simple_regret\"].median())\n"
  "```\n\n"
  "The per-trial variables named in the attribute `coordinates` become coordinates in xarray.\n"
  "The cells with all their settings are two tables with the same rows; `cell` of a trial is its\n"
  "row:\n\n"
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
  "where the part is run, problem, algorithm, surrogate, maximiser, crew, thinking, pending or\n"
  "noise. Defaults are filled in. Paths stand as in the study file. The attribute `swept` is 1\n"
  "where the study sweeps the setting.\n\n"
  "A swept setting is also a variable of its own, in `cells/sweep` and of the trials of each\n"
  "problem, with its name in the study file without the label: `noise_variance`,\n"
  "`surrogate.kernel`; `surrogate` where whole blocks are swept. If two would have one name, the\n"
  "part stands before it (`algorithm.exploration`, `problem.objective`). A value is missing if\n"
  "the cell does not read the setting, or its algorithm sets it itself: such a cell runs once\n"
  "and stands beside every value of the setting.\n\n"
  "| values | type | missing |\n"
  "| --- | --- | --- |\n"
  "| numbers | float64 | NaN |\n"
  "| whole numbers | int32, `_FillValue` | %d (NA in R) |\n"
  "| true or false | uint8, `flag_values`, `flag_meanings`, `_FillValue` | %d |\n"
  "| words; all other values as canonical text: lists, blocks `{name=value,...}`, numbers with "
  "`auto` among them | text | empty |\n\n"
  "Swept settings have the attributes `" RG_SETTING_ATTRIBUTE
  "` (the name again, which marks such\n"
  "a variable), `part`, `units` and `description`. `" RG_SWEPT_AIMED "` is the measure that the\n"
  "queries of a trial aim at, where a problem has `score`. Files of schema 2 have no table of\n"
  "cells: there every trial has what belongs to its cell.\n\n";

static const char integrity[] =
  "## Integrity\n\n"
  "`checksum` of a trial is the XXH3-128 of this sequence of bytes: id, key and message, each\n"
  "with a NUL behind it; then as 64-bit numbers, least significant byte first: status,\n"
  "n_iterations, n_initial, n_dim_x, n_dim_c, n_dim_z, and the bits of optimum; then every\n"
  "column that has a value: first those that the root attribute `checksum_columns` names, in its\n"
  "order (it is that of the table above, without timing), then those of the algorithm by name.\n"
  "Each column gives its name and a NUL, the number of its values (those of this trial, without\n"
  "padding), their bits. -0 counts as 0, every NaN as 7ff8000000000000. The root attribute\n"
  "`checksum` adds up the checksums of all trials: XXH3-128 of the number of trials and of the\n"
  "sum modulo 2^128, low half first, as three such numbers. Timing, provenance and labels are in\n"
  "neither.\n\n"
  "Behind the end of HDF5's part, where HDF5 does not look, stands a trailer of %d bytes:\n"
  "`RGTRAIL` and a newline, the length of what precedes, and the low and the high half of its\n"
  "XXH3-128, each least significant byte first. A shard without a fitting trailer is damaged: it\n"
  "is moved to `OUT.h5.d/%s/` and its trials run again. If another program wrote to a results\n"
  "file, its trailer is lost, and the checksums of its trials decide.\n\n"
  "## The study directory\n\n"
  "`LEVEL-HASH.h5` are shards: level 0 as committed, higher levels merged from those below; the\n"
  "hash is that of the trailer. `.tmp.HOST.PID.N` are files being written; no program reads\n"
  "them. `%s/` has damaged shards, `%s/` shards without any trial of the present study. A file\n"
  "`STOP` ends a run cleanly. When the study is complete, its shards go into the results file\n"
  "and are removed.\n";

static const char exports[] =
  "\n"
  "## Exports\n\n"
  "`regatta_analysis export RESULTS --to FORMAT DIR` writes them for other programs.\n\n"
  "* `csv`: `trials.csv`, `evaluations.csv` (numbers that read back to the same bits; an\n"
  "  apostrophe before a text that a spreadsheet would compute, such as `=1+1`) and\n"
  "  `study.json`. A column `stopped` of `trials.csv` says which entry of `stop` ended a trial.\n"
  "* `parquet`: `trials.parquet`, `evaluations_PROBLEM.parquet`; where pyarrow is installed.\n"
  "* `netcdf`: `PROBLEM.nc`, netCDF-4 with attributes by CF-1.10 and ACDD-1.3; units that only\n"
  "  the problem knows stand in `comment`.\n"
  "* `coco`: `SUITE/ALGORITHM/bbobexp_fN.info` with `.dat` and `.tdat`, format bbob-new2. Values\n"
  "  are minimised (minus `objective`), evaluations count from the first of the initial design.\n"
  "  Functions of the suite bbob keep number and instance. Other problems have the suite\n"
  "  `regatta-STUDY` and their place among the problems of the study as number, whatever is\n"
  "  selected. Problems without a known optimum are left out. cocopp 2.7.3 reads the folders\n"
  "  `bbob/ALGORITHM`, one argument each. It shows dimensions 2, 3, 5, 10, 20 and 40, and\n"
  "  refuses other suites, which it does not know.\n"
  "* `ioh`: `SUITE/ALGORITHM/IOHprofiler_fN_NAME.json` with `.dat`, the same runs in the format\n"
  "  of IOHprofiler (0.3.3 and later); `raw_y` is above the optimum where that is known.\n\n"
  "In both, every trial with an evaluation is a run, also one that failed. An evaluation that is\n"
  "infeasible or failed has the value 1e300. Where a selected trial did better than the optimum,\n"
  "the best value of its instance replaces the optimum. A run that `stop` ended has the\n"
  "evaluations that were made, and a comment has the number of such runs. Programs count values\n"
  "below its target regret as missed. An export needs a new or empty folder.\n";

/* An entry of a list: the name, up to two facts about it that may be empty, and what neither the
   name nor the long name says. */
static PetscErrorCode add_entry(const char *name, const char *fact, const char *other,
                                const char *long_name, const char *description, RgText *text)
{
  char words[64] = "";

  if (strcmp(other, "1") == 0) other = ""; /* no unit */
  for (int i = 0; name[i] && i < (int)sizeof words - 1; i++)
    words[i] = name[i] == '_' ? ' ' : name[i];
  PetscCall(rg_text_add(text, "- `%s`", name));
  if (*fact || *other)
    PetscCall(rg_text_add(text, " (%s%s%s)", fact, *fact && *other ? ", " : "", other));
  if (strcmp(words, long_name) != 0 && strncmp(description, long_name, strlen(long_name)) != 0)
    PetscCall(rg_text_add(text, ": %s", long_name));
  return rg_text_add(text, ": %s\n", description);
}

static PetscErrorCode add_attributes(RgText *text)
{
  PetscCall(rg_text_add(text, "## Attributes of the root\n\n"
                              "Every value is a text, unless another type is named:\n\n"));
  for (int i = 0; i < rg_attribute_count; i++)
    PetscCall(add_entry(rg_attributes[i].name, rg_attributes[i].type < RG_FIELD_INT ? "" : "int64",
                        "", "", rg_attributes[i].description, text));
  return rg_text_add(text, "\n");
}

static PetscErrorCode add_axes(RgText *text)
{
  PetscCall(rg_text_add(text,
                        "## Axes of a group\n\nNumbers begin with 0, those of `%s` with 1:\n\n",
                        rg_axes[RG_AXIS_ITERATION].name));
  for (int a = 0; a < RG_AXIS_COUNT; a++)
    PetscCall(add_entry(rg_axes[a].name, "", "", "", rg_axes[a].description, text));
  return rg_text_add(text, "\n`dim_c` exists where the problem has a context, `dim_z` where an "
                           "algorithm has a model, `score` where the problem has `score`, `term` "
                           "where a kernel is additive.\n\n");
}

static PetscErrorCode add_field(const RgFieldInfo *field, RgText *text)
{
  static const char *const types[] = {
    [RG_FIELD_TEXT] = "",        [RG_FIELD_CHARS] = "",       [RG_FIELD_INT] = "int32",
    [RG_FIELD_COUNT] = "uint64", [RG_FIELD_REAL] = "float64", [RG_FIELD_LOGICAL] = "uint8",
    [RG_FIELD_STATUS] = "uint8"};

  return add_entry(field->name, types[field->type], field->units, field->long_name,
                   field->description, text);
}

static PetscErrorCode add_cells(RgText *text)
{
  PetscCall(rg_text_add(text, "## Per cell, in the group `" RG_GROUP_CELLS "`\n\n"
                              "Every value is a text, unless another type is named:\n\n"));
  for (int f = 0; f < rg_cell_field_count; f++) PetscCall(add_field(&rg_cell_fields[f], text));
  return rg_text_add(text,
                     "\nA results file has the cells of the study in the order of the "
                     "plan, then those of\n`earlier`. A shard has the cells of its "
                     "trials. The axis is `%s`.\n\n",
                     rg_axes[RG_AXIS_CELL].name);
}

static PetscErrorCode add_fields(RgText *text, bool provenance)
{
  PetscCall(rg_text_add(text,
                        provenance ? "## Per trial, in the subgroup `%s`\n\n" : "## Per trial\n\n",
                        RG_GROUP_PROVENANCE));
  PetscCall(rg_text_add(
    text, "Every variable is a text, unless another type is named, with its units:\n\n"));
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
  PetscCall(rg_text_add(text, "All are float64 over trial and iteration. A third axis and the "
                              "units stand behind the name:\n\n"));
  for (int c = 0; c < RG_COLUMN_COUNT; c++)
    if (rg_columns[c].result == result)
      PetscCall(add_entry(
        rg_columns[c].name,
        rg_columns[c].width < 0 ? rg_axes[rg_axis_of_width(rg_columns[c].width)].name : "",
        rg_columns[c].units, rg_columns[c].long_name, rg_columns[c].description, text));
  if (result)
    PetscCall(rg_text_add(
      text, "\nAlgorithms add columns of their own; `regatta describe ALGORITHM` lists them.\n\n"
            "If the coordinates of the design have names, `x_name` (dim_x) has them, and `x_seen`\n"
            "(trial, iteration, dim_x) the designs as they were evaluated: integers rounded, a "
            "choice as\nthe number of its word from 0 (the words stand in the attribute "
            "`choices_NAME`), NaN where\nan input did not count. Both are in no checksum; `x` is "
            "the query as the algorithm made it.\n`c_name` and `c_seen` are the same for "
            "contexts.\n"));
  return rg_text_add(text, "\n");
}

PetscErrorCode rg_format_document(RgText *text)
{
  PetscCall(rg_text_add(text, introduction, RG_SCHEMA_VERSION));
  PetscCall(rg_text_add(text, reading));
  PetscCall(add_attributes(text));
  PetscCall(add_axes(text));
  PetscCall(add_fields(text, false));
  PetscCall(add_cells(text));
  PetscCall(rg_text_add(text, settings, RG_NO_INTEGER, RG_NO_LOGICAL));
  PetscCall(add_columns(text, true));
  PetscCall(add_columns(text, false));
  PetscCall(add_fields(text, true));
  PetscCall(rg_text_add(text, integrity, RG_TRAILER_LENGTH, RG_FOLDER_BAD, RG_FOLDER_BAD,
                        RG_FOLDER_FOREIGN));
  return rg_text_add(text, "%s", exports);
}
