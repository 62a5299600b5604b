/* Named inputs: reals (also on a logarithmic scale), integers and choices. An input may count
   only with certain words of a choice. */
#include "base/inputs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/number.h"
#include "base/text.h"

enum { WORDS_MAX = 256 }; /* largest number of words in a description */

/* Between larger integers some are missing among the numbers of the machine; larger reals would
   make sums and ranges overflow. */
static const double largest_bound[] = {[RG_INPUT_REAL] = 1e100, [RG_INPUT_INTEGER] = 1e15};

static const char blanks[] = " \t,[]{}()";
static const char name_letters[] =
  "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";

const char *const rg_input_kinds[] = {
  [RG_INPUT_REAL] = "real", [RG_INPUT_INTEGER] = "integer", [RG_INPUT_CHOICE] = "choice", NULL};
/* The remaining words of a description. */
enum { KEY_LOG, KEY_IF };
static const char *const keys[] = {[KEY_LOG] = "log", [KEY_IF] = "if"};

static PetscErrorCode read_bounds(RgInput *input, int n, char *const *words, RgText *mistake)
{
  input->log = n == 3 && !strcmp(words[2], keys[KEY_LOG]);
  if (n != 2 + input->log || !rg_number_only(words[0], &input->lower) ||
      !rg_number_only(words[1], &input->upper))
    PetscCall(rg_text_add(mistake, "needs a lower and an upper bound, two numbers, and may have "
                                   "'log' and 'if CHOICE=WORD' behind them"));
  else if (!(input->lower < input->upper))
    PetscCall(rg_text_add(mistake, "the lower bound %g must be less than the upper one, %g",
                          input->lower, input->upper));
  else if (input->kind == RG_INPUT_INTEGER &&
           (input->lower != floor(input->lower) || input->upper != floor(input->upper)))
    PetscCall(rg_text_add(mistake, "the bounds of an integer are integers"));
  else if (fmax(-input->lower, input->upper) > largest_bound[input->kind])
    PetscCall(rg_text_add(mistake, "the bounds lie between -%g and %g, got %s and %s",
                          largest_bound[input->kind], largest_bound[input->kind], words[0],
                          words[1]));
  else if (input->log && !(input->lower > 0))
    PetscCall(rg_text_add(mistake, "the lower bound of a logarithmic scale is greater than 0"));
  return 0;
}

static PetscErrorCode read_choices(RgInput *input, int n, char *const *words, RgText *mistake)
{
  if (n < 2) PetscCall(rg_text_add(mistake, "needs two words or more to choose from"));
  for (int i = 0; i < n && !mistake->length; i++)
    for (int j = 0; j < i && !mistake->length; j++)
      if (!strcmp(words[i], words[j]))
        PetscCall(rg_text_add(mistake, "names '%.60s' twice", words[i]));
  if (mistake->length) return 0;
  input->upper = n;
  input->n_words = n;
  return rg_names_copy(n, (const char *const *)words, &input->words);
}

static PetscErrorCode read_words(RgInput *input, int n, char *const *words, RgText *mistake)
{
  if (n < 2 || words[0][strspn(words[0], name_letters)])
    return rg_text_add(mistake, "is written 'NAME real LOWER UPPER', 'NAME integer LOWER UPPER', "
                                "both also with 'log' behind, or 'NAME choice WORD WORD ...'");
  PetscCall(PetscStrallocpy(words[0], &input->name));
  for (int k = 0; rg_input_kinds[k]; k++) {
    if (strcmp(words[1], rg_input_kinds[k])) continue;
    input->kind = (RgInputKind)k;
    return (k == RG_INPUT_CHOICE ? read_choices : read_bounds)(input, n - 2, words + 2, mistake);
  }
  const char *nearest = rg_text_nearest(words[1], rg_input_kinds);
  return rg_text_add(mistake, "its kind is '%.40s'; real, integer and choice are accepted%s%s%s",
                     words[1], nearest ? ", did you mean '" : "", nearest ? nearest : "",
                     nearest ? "'?" : "");
}

/* Position of a final `if CHOICE=WORD|WORD` in a description; n if it has none. A choice may
   have the word `if`. */
static int find_condition(int n, char *const *words)
{
  const bool is_choice = n > 1 && !strcmp(words[1], rg_input_kinds[RG_INPUT_CHOICE]);

  for (int i = 2; i < n; i++)
    if (!strcmp(words[i], keys[KEY_IF]) && (!is_choice || i + 2 == n)) return i;
  return n;
}

/* Parse the condition of input number `of` from the words after its `if`. */
static PetscErrorCode read_condition(int n, char *const *words, int of, RgInput *inputs,
                                     RgText *mistake)
{
  char *equals = n == 1 ? strchr(words[0], '=') : NULL, *rest;
  int parent = 0;

  if (!equals || equals == words[0] || !equals[1])
    return rg_text_add(mistake, "a condition is written 'if CHOICE=WORD' or 'if "
                                "CHOICE=WORD|WORD', without blanks");
  *equals = '\0';
  while (parent < of && strcmp(inputs[parent].name, words[0])) parent++;
  if (parent == of) PetscCall(rg_text_add(mistake, "there is no '%.40s' before it", words[0]));
  else if (inputs[parent].kind != RG_INPUT_CHOICE)
    PetscCall(
      rg_text_add(mistake, "'%.40s' is not a choice: an input depends on a choice", words[0]));
  if (mistake->length) return 0;
  inputs[of].parent = parent;
  const RgInput *choice = &inputs[parent];
  PetscCall(PetscCalloc1(choice->n_words, &inputs[of].when));
  for (char *word = strtok_r(equals + 1, "|", &rest); word && !mistake->length;
       word = strtok_r(NULL, "|", &rest)) {
    int k = 0;
    while (k < choice->n_words && strcmp(choice->words[k], word)) k++;
    if (k < choice->n_words) inputs[of].when[k] = true;
    else PetscCall(rg_text_add(mistake, "'%.40s' is not a word of '%.40s'", word, choice->name));
  }
  return 0;
}

static PetscErrorCode parse_input(const char *text, int of, RgInput *inputs, RgText *mistake)
{
  char *copy, *rest, *words[WORDS_MAX];
  int n = 0;

  inputs[of].parent = -1;
  PetscCall(PetscStrallocpy(text, &copy));
  char *word = strtok_r(copy, blanks, &rest);
  for (; word && n < WORDS_MAX; word = strtok_r(NULL, blanks, &rest)) words[n++] = word;
  const int end = find_condition(n, words);
  if (word) PetscCall(rg_text_add(mistake, "has more than %d words", WORDS_MAX));
  else if (strchr(text, ';')) PetscCall(rg_text_add(mistake, "';' is not accepted in it"));
  else PetscCall(read_words(&inputs[of], end, words, mistake));
  if (end < n && !mistake->length)
    PetscCall(read_condition(n - end - 1, words + end + 1, of, inputs, mistake));
  return PetscFree(copy);
}

/* Parse n descriptions in the form of rg_space_inputs. inputs: n, zeroed; to be cleared even
   after mistakes. The first mistake is appended to `mistake`. */
static PetscErrorCode parse_all(int n, char *const *texts, RgInput *inputs, RgText *mistake)
{
  RgText wrong = {0};

  for (int i = 0; i < n && !wrong.length; i++) {
    PetscCall(parse_input(texts[i], i, inputs, &wrong));
    for (int j = 0; j < i && !wrong.length; j++)
      if (!strcmp(inputs[i].name, inputs[j].name))
        PetscCall(rg_text_add(&wrong, "the name is used twice"));
    if (wrong.length) PetscCall(rg_text_add(mistake, "'%.80s': %s", texts[i], wrong.data));
  }
  return rg_text_clear(&wrong);
}

PetscErrorCode rg_inputs_clear(int n, RgInput *inputs)
{
  for (int i = 0; i < n; i++) {
    PetscCall(rg_names_free(inputs[i].n_words, &inputs[i].words));
    PetscCall(RG_FREE(&inputs[i].when, &inputs[i].name));
  }
  return 0;
}

/* ---- texts ----------------------------------------------------------------------------------- */

PetscErrorCode rg_inputs_text(int n, const RgInput *inputs, RgText *text)
{
  for (int j = 0; j < n; j++) {
    const RgInput *input = &inputs[j], *parent = input->parent < 0 ? NULL : &inputs[input->parent];
    const char *before = "";
    PetscCall(
      rg_text_add(text, "%s%s %s", j ? "; " : "", input->name, rg_input_kinds[input->kind]));
    for (int k = 0; k < input->n_words; k++) PetscCall(rg_text_add(text, " %s", input->words[k]));
    if (input->kind != RG_INPUT_CHOICE) {
      PetscCall(rg_text_add(text, " "));
      PetscCall(rg_text_add_real(text, input->lower));
      PetscCall(rg_text_add(text, " "));
      PetscCall(rg_text_add_real(text, input->upper));
      PetscCall(rg_text_add(text, "%s", input->log ? " log" : ""));
    }
    if (parent) PetscCall(rg_text_add(text, " if %s=", parent->name));
    for (int k = 0; parent && k < parent->n_words; k++) {
      if (!input->when[k]) continue;
      PetscCall(rg_text_add(text, "%s%s", before, parent->words[k]));
      before = "|";
    }
  }
  return 0;
}

PetscErrorCode rg_inputs_read(const char *text, int *n, RgInput **inputs, RgText *mistake)
{
  char *copy, **texts, *rest;
  int count = 1;

  for (const char *at = text; (at = strchr(at, ';')); at++) count++;
  PetscCall(PetscStrallocpy(text, &copy));
  PetscCall(PetscCalloc1(count, &texts));
  PetscCall(PetscCalloc1(count, inputs));
  *n = 0;
  for (char *one = strtok_r(copy, ";", &rest); one; one = strtok_r(NULL, ";", &rest))
    texts[(*n)++] = one;
  PetscCall(parse_all(*n, texts, *inputs, mistake));
  PetscCall(PetscFree(texts));
  return PetscFree(copy);
}

PetscErrorCode rg_input_print(const RgInput *input, double seen, RgText *text)
{
  if (isnan(seen)) PetscCall(rg_text_add(text, "-"));
  else if (input->kind == RG_INPUT_CHOICE)
    PetscCall(rg_text_add(text, "%s", input->words[(int)seen]));
  else PetscCall(rg_text_add(text, "%.6g", seen + 0.0)); /* 0, not -0 */
  return 0;
}

PetscErrorCode rg_space_print_seen(const RgSpace *space, const double *seen, RgText *text)
{
  for (int j = 0; j < space->dim; j++) {
    const RgInput *input = space->inputs ? &space->inputs[j] : NULL;
    if (input) PetscCall(rg_text_add(text, " %s = ", input->name));
    else PetscCall(rg_text_add(text, " x%d = %g", j + 1, seen[j]));
    if (input) PetscCall(rg_input_print(input, seen[j], text));
  }
  return 0;
}

/* ---- values ---------------------------------------------------------------------------------- */

static double value_of(const RgInput *input, double v)
{
  if (input->kind == RG_INPUT_INTEGER)
    return fmin(fmax(floor(v + 0.5), input->lower), input->upper);
  if (input->kind == RG_INPUT_CHOICE) return v > 0 ? PetscMin((int)v, input->n_words - 1) : 0;
  return v;
}

void rg_inputs_seen(int n, const RgInput *inputs, const double *native, double *seen)
{
  for (int j = 0; j < n; j++) { /* parents come before their children */
    const int parent = inputs[j].parent;
    const bool counts = parent < 0 || (!isnan(seen[parent]) && inputs[j].when[(int)seen[parent]]);
    seen[j] = counts ? value_of(&inputs[j], native[j]) : NAN;
  }
}

void rg_space_seen(const RgSpace *space, const double *native, double *seen)
{
  if (space->inputs) rg_inputs_seen(space->dim, space->inputs, native, seen);
  else memmove(seen, native, (size_t)space->dim * sizeof(double));
}

bool rg_space_is_conditional(const RgSpace *space)
{
  for (int j = 0; space->inputs && j < space->dim; j++)
    if (space->inputs[j].parent >= 0) return true;
  return false;
}

/* Number of a choice's word from its unit coordinate. */
static int word_at(const RgInput *input, double unit)
{
  return (int)value_of(input, unit * input->n_words);
}

/* Whether input j counts. A parent that does not count itself decides: go up the chain. */
static bool counts_here(const RgSpace *space, int j, const double *unit)
{
  const RgInput *input = space->inputs ? &space->inputs[j] : NULL;
  bool here = true;

  for (; input && input->parent >= 0 && here; input = &space->inputs[input->parent])
    here = input->when[word_at(&space->inputs[input->parent], unit[input->parent])];
  return here;
}

void rg_space_normalise(const RgSpace *space, double *unit, bool *counts)
{
  for (int j = 0; j < space->dim; j++) {
    const bool here = counts_here(space, j, unit);
    if (counts) counts[j] = here;
    if (!here) unit[j] = 0.5;
  }
}

/* ---- levels ---------------------------------------------------------------------------------- */

double rg_space_levels(const RgSpace *space, int j)
{
  const RgInput *input = space->inputs ? &space->inputs[j] : NULL;

  if (!input || input->kind == RG_INPUT_REAL) return 0;
  return input->kind == RG_INPUT_CHOICE ? input->n_words : input->upper - input->lower + 1;
}

bool rg_space_has_levels(const RgSpace *space)
{
  for (int j = 0; j < space->dim; j++)
    if (rg_space_levels(space, j) > 0) return true;
  return false;
}

static RgSpace one_coordinate(const RgSpace *space, int j)
{
  return (RgSpace){.kind = RG_SPACE_BOX,
                   .dim = 1,
                   .lower = space->lower + j,
                   .upper = space->upper + j,
                   .inputs = space->inputs + j};
}

double rg_space_level_at(const RgSpace *space, int j, double unit)
{
  const RgSpace one = one_coordinate(space, j);
  const RgInput *input = &space->inputs[j];
  double native;

  if (input->kind == RG_INPUT_CHOICE) return word_at(input, unit);
  rg_space_to_native(&one, &unit, &native);
  return value_of(input, native) - input->lower;
}

double rg_space_unit_of_level(const RgSpace *space, int j, double level)
{
  const RgSpace one = one_coordinate(space, j);
  const RgInput *input = &space->inputs[j];
  const double native = input->lower + level;
  double unit;

  if (input->kind == RG_INPUT_CHOICE) return (level + 0.5) / input->n_words;
  rg_space_to_unit(&one, &native, &unit);
  return fmin(fmax(unit, 0), 1);
}

void rg_space_snap(const RgSpace *space, double *unit, bool *moves)
{
  for (int j = 0; j < space->dim; j++) {
    const bool here = counts_here(space, j, unit), real = !(rg_space_levels(space, j) > 0);
    if (moves) moves[j] = here && real;
    if (!here) unit[j] = 0.5;
    else if (!real)
      unit[j] = rg_space_unit_of_level(space, j, rg_space_level_at(space, j, unit[j]));
  }
}

PetscErrorCode rg_space_inputs(RgSpace *space, int n, char *const *texts, RgText *mistake)
{
  const size_t before = mistake->length;
  double *bounds;
  RgInput *inputs;

  if (!n) return 0;
  PetscCall(PetscCalloc1(n, &inputs));
  PetscCall(parse_all(n, texts, inputs, mistake));
  if (mistake->length > before) {
    PetscCall(rg_inputs_clear(n, inputs));
    return PetscFree(inputs);
  }
  PetscCall(PetscMalloc1(2 * (size_t)n, &bounds));
  for (int j = 0; j < n; j++) {
    bounds[j] = inputs[j].lower;
    bounds[n + j] = inputs[j].upper;
  }
  PetscCall(rg_space_box(space, n, bounds, bounds + n));
  space->inputs = inputs;
  return PetscFree(bounds);
}

int rg_space_find(const RgSpace *space, const double *native)
{
  for (int i = 0; rg_space_is_finite(space) && i < space->size; i++) {
    const double *unit = space->points + (size_t)i * space->dim;
    bool same = true;
    for (int j = 0; j < space->dim && same; j++) {
      const double own = (1 - unit[j]) * space->lower[j] + unit[j] * space->upper[j];
      same = fabs(own - native[j]) <= 1e-9 * fmax(1, fabs(own));
    }
    if (same) return i;
  }
  return -1;
}
