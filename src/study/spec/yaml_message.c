/* libyaml's complaints in the words of a study file. */
#include "study/spec/yaml_message.h"

#include <string.h>

/* The byte at a mark, 0 beyond the end. Marks count characters, so count what is no continuation.
 */
static char byte_at(const char *text, size_t length, yaml_mark_t mark)
{
  size_t i = 0, line = 0, column = 0;

  while (i < length && line < mark.line)
    if (text[i++] == '\n') line++;
  for (; i < length && text[i] != '\n'; i++) {
    if (((unsigned char)text[i] & 0xC0) == 0x80) continue;
    if (column++ == mark.column) return text[i];
  }
  return 0;
}

/* What libyaml says (part of it, in its context), and what it usually means. */
static const struct {
  const char *problem, *context, *meaning;
} meanings[] = {
  {"mapping values are not allowed", "",
   "a ':' is not accepted here: check the indentation, or quote text that contains ': '"},
  {"could not find expected ':'", "", "a key without ':', or a line that is not indented"},
  {"did not find expected key", "block mapping",
   "a 'key: value' of the same map is expected here: check the indentation"},
  {"did not find expected '-' indicator", "",
   "a list entry '- ...' is expected here: check the indentation"},
  {"block sequence entries are not allowed", "",
   "a '- ' is not accepted here: begin the list in a line of its own"},
  {"did not find expected ',' or ']'", "", "',' or ']' is missing in a list"},
  {"did not find expected ',' or '}'", "", "',' or '}' is missing in a map"},
  {"found unexpected end of stream", "quoted scalar", "a quoted text is never closed"},
  {"found unexpected document indicator", "quoted scalar", "a quoted text is never closed"},
  {"found unknown escape character", "",
   "an unknown escape in double quotes: use single quotes, or '\\\\' for a backslash"},
  {"did not find expected comment or line break", "", "nothing may follow '|' or '>' in its line"},
  {"did not find expected <document start>", "",
   "the study is complete here: text follows that "
   "belongs to no key, check the indentation"},
  {"found a tab character", "", "a tab is not accepted here: indent with spaces"},
  {NULL, NULL, NULL}};

static bool contains(const char *text, const char *part)
{
  return !part[0] || (text && strstr(text, part));
}

void rg_yaml_syntax_message(const char *path, const char *text, size_t length,
                            const yaml_parser_t *parser, RgDiagnostics *diagnostics)
{
  RgPlace place = {path, (int)parser->problem_mark.line + 1, (int)parser->problem_mark.column + 1};
  const char *problem = parser->problem ? parser->problem : "not YAML";
  char byte = byte_at(text, length, parser->problem_mark);

  if (parser->error == YAML_READER_ERROR) {
    rg_diagnostics_add(diagnostics, (RgPlace){path, 0, 0}, "%s (byte %zu)", problem,
                       parser->problem_offset);
    return;
  }
  if (contains(problem, "cannot start any token") && byte == '\t') {
    rg_diagnostics_add(diagnostics, place, "a tab is not accepted here: indent with spaces");
    return;
  }
  if (contains(problem, "cannot start any token") && byte) {
    rg_diagnostics_add(diagnostics, place, "text that begins with '%c' must be quoted", byte);
    return;
  }
  for (int i = 0; meanings[i].problem; i++) {
    if (!contains(problem, meanings[i].problem) || !contains(parser->context, meanings[i].context))
      continue;
    rg_diagnostics_add(diagnostics, place, "%s", meanings[i].meaning);
    return;
  }
  rg_diagnostics_add(diagnostics, place, "not YAML: %s%s%s", parser->context ? parser->context : "",
                     parser->context ? ", " : "", problem);
}
