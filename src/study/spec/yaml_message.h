/* libyaml's complaints in the words of a study file. Private to the YAML reader. */
#ifndef RG_STUDY_YAML_MESSAGE_H
#define RG_STUDY_YAML_MESSAGE_H

#include <yaml.h>

#include "regatta/error.h"

/* Add the mistake that stopped `parser` (after yaml_parser_parse returned 0, not for lack of
   memory): its place, and what to do about it where that is known. text: the `length` bytes being
   read. */
void rg_yaml_syntax_message(const char *path, const char *text, size_t length,
                            const yaml_parser_t *parser, RgDiagnostics *diagnostics);

#endif
