/* Coordinates of external programs: real, integer and categorical inputs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "problem/external.h"

enum { WORDS_MAX = 256 };

static const char blanks[] = " \t,[]{}()";

static bool is_name(const char *word)
{
  return strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.") ==
         strlen(word);
}

static bool read_number(const char *word, double *value)
{
  char *end;

  *value = strtod(word, &end);
  return end != word && !*end && isfinite(*value);
}

static PetscErrorCode read_bounds(RgInput *input, int n, char *const *words, RgText *mistake)
{
  PetscFunctionBeginUser;
  if (n != 2 || !read_number(words[0], &input->lower) || !read_number(words[1], &input->upper))
    PetscCall(rg_text_add(mistake, "needs a lower and an upper bound, two numbers"));
  else if (!(input->lower < input->upper))
    PetscCall(rg_text_add(mistake, "the lower bound %g must be less than the upper one, %g",
                          input->lower, input->upper));
  else if (input->kind == RG_INPUT_INTEGER &&
           (input->lower != floor(input->lower) || input->upper != floor(input->upper) ||
            fabs(input->lower) > 1e15 || fabs(input->upper) > 1e15))
    PetscCall(rg_text_add(mistake, "the bounds of an integer are integers"));
  PetscFunctionReturn(0);
}

static PetscErrorCode read_choices(RgInput *input, int n, char *const *words, RgText *mistake)
{
  PetscFunctionBeginUser;
  if (n < 2) PetscCall(rg_text_add(mistake, "needs two words or more to choose from"));
  for (int i = 0; i < n && !mistake->length; i++)
    for (int j = 0; j < i && !mistake->length; j++)
      if (!strcmp(words[i], words[j]))
        PetscCall(rg_text_add(mistake, "names '%.60s' twice", words[i]));
  if (mistake->length) PetscFunctionReturn(0);
  input->upper = n;
  PetscCall(PetscCalloc1(n, &input->words));
  for (int i = 0; i < n; i++) PetscCall(PetscStrallocpy(words[i], &input->words[i]));
  input->n_words = n;
  PetscFunctionReturn(0);
}

static PetscErrorCode read_words(RgInput *input, int n, char *const *words, RgText *mistake)
{
  static const char *const kinds[] = {"real", "integer", "choice"};

  PetscFunctionBeginUser;
  if (n < 2 || !is_name(words[0])) {
    PetscCall(rg_text_add(mistake, "is written 'NAME real LOWER UPPER', 'NAME integer LOWER UPPER' "
                                   "or 'NAME choice WORD WORD ...'"));
    PetscFunctionReturn(0);
  }
  PetscCall(PetscStrallocpy(words[0], &input->name));
  for (int k = 0; k < 3; k++) {
    if (strcmp(words[1], kinds[k])) continue;
    input->kind = (RgInputKind)k;
    if (k == RG_INPUT_CHOICE) PetscCall(read_choices(input, n - 2, words + 2, mistake));
    else PetscCall(read_bounds(input, n - 2, words + 2, mistake));
    PetscFunctionReturn(0);
  }
  PetscCall(
    rg_text_add(mistake, "its kind is '%.40s'; real, integer and choice are accepted", words[1]));
  PetscFunctionReturn(0);
}

static PetscErrorCode parse_input(const char *text, RgInput *input, RgText *mistake)
{
  char *copy, *rest, *words[WORDS_MAX];
  int n = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscStrallocpy(text, &copy));
  for (char *word = strtok_r(copy, blanks, &rest); word && n < WORDS_MAX;
       word = strtok_r(NULL, blanks, &rest))
    words[n++] = word;
  PetscCall(read_words(input, n, words, mistake));
  PetscCall(PetscFree(copy));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_inputs_parse(int n, char *const *texts, RgInput *inputs, RgText *mistake)
{
  RgText wrong = {0};

  PetscFunctionBeginUser;
  for (int i = 0; i < n && !wrong.length; i++) {
    PetscCall(parse_input(texts[i], &inputs[i], &wrong));
    for (int j = 0; j < i && !wrong.length; j++)
      if (!strcmp(inputs[i].name, inputs[j].name))
        PetscCall(rg_text_add(&wrong, "the name stands there twice"));
    if (wrong.length) PetscCall(rg_text_add(mistake, "'%.80s': %s", texts[i], wrong.data));
  }
  PetscCall(rg_text_clear(&wrong));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_inputs_clear(int n, RgInput *inputs)
{
  PetscFunctionBeginUser;
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < inputs[i].n_words; k++) PetscCall(PetscFree(inputs[i].words[k]));
    PetscCall(PetscFree(inputs[i].words));
    PetscCall(PetscFree(inputs[i].name));
  }
  PetscFunctionReturn(0);
}

double rg_input_integer(const RgInput *input, double v)
{
  return fmin(fmax(floor(v + 0.5), input->lower), input->upper);
}

int rg_input_word(const RgInput *input, double v)
{
  return v > 0 ? PetscMin((int)v, input->n_words - 1) : 0;
}
