/* The tree of a YAML text, built from libyaml's events. libyaml's own documents keep neither
   anchors nor the places of aliases, which messages need. */
#include "study/file/yaml_tree.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/grow.h"
#include "base/number.h"
#include "base/text.h"

/* ---- bytes ----------------------------------------------------------------------------------- */

/* Whether a code point is printable or white space; a byte-order mark only at the start of the
   text. */
static bool is_accepted(int32_t code, bool first)
{
  if (code == 0xFEFF) return first;
  if (code == '\t' || code == '\n' || code == '\r' || code == 0x85) return true;
  return (code >= 0x20 && code < 0x7F) || (code >= 0xA0 && code != 0xFFFE && code != 0xFFFF);
}

static PetscErrorCode check_text(const char *path, const char *text, size_t length,
                                 RgDiagnostics *diagnostics)
{
  const unsigned char *s = (const unsigned char *)text;
  RgPlace place = {path, 1, 1};

  if (length > RG_YAML_MAX_BYTES)
    return rg_diagnostics_add(diagnostics, (RgPlace){path, 0, 0},
                              "the file has %zu bytes; a study file has at most %d", length,
                              RG_YAML_MAX_BYTES);
  if (length >= 2 && ((s[0] == 0xFF && s[1] == 0xFE) || (s[0] == 0xFE && s[1] == 0xFF)))
    return rg_diagnostics_add(diagnostics, place, "the file is UTF-16; save it as UTF-8");
  for (size_t i = 0, width = 1; i < length; i += width) {
    int32_t code = rg_utf8_decode(text + i, length - i, &width);
    if (code < 0)
      return rg_diagnostics_add(diagnostics, place,
                                "byte 0x%02X is not UTF-8; save the file as UTF-8", s[i]);
    if (!is_accepted(code, i == 0))
      return rg_diagnostics_add(diagnostics, place, "control character U+%04X is not accepted",
                                (unsigned)code);
    place.column++;
    if (code == 0xFEFF) place.column = 1;
    if (code == '\n') {
      place.line++;
      place.column = 1;
    }
  }
  return 0;
}

/* ---- mistakes -------------------------------------------------------------------------------- */

typedef struct {
  char *name; /* owned */
  const RgYamlNode *node;
} Anchor;

/* State of one reading. */
typedef struct {
  const char *path, *text;
  size_t length;
  yaml_parser_t parser;
  yaml_event_t event; /* current event; deleted before the next one is read */
  bool has_event;
  bool stopped; /* reading stopped after a mistake */
  RgYamlTree *tree;
  RgDiagnostics *diagnostics;
  Anchor *anchors;
  int n_anchors;
  int n_nodes; /* nodes so far, aliases expanded */
} Reader;

static RgPlace place_of(const Reader *reader, yaml_mark_t mark)
{
  return (RgPlace){reader->path, (int)mark.line + 1, (int)mark.column + 1};
}

static PetscErrorCode stop(Reader *reader, const char *format, ...)
  __attribute__((format(printf, 2, 3)));

/* Report a mistake at the current event and end the reading. Returns 0. */
static PetscErrorCode stop(Reader *reader, const char *format, ...)
{
  char message[256];
  va_list arguments;

  va_start(arguments, format);
  rg_format_list(message, sizeof(message), format, arguments);
  va_end(arguments);
  rg_diagnostics_add(reader->diagnostics, place_of(reader, reader->event.start_mark), "%s",
                     message);
  reader->stopped = true;
  return 0;
}

/* The byte at a mark, 0 beyond the end. Marks count characters, so continuation bytes don't
   count. */
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

/* libyaml's messages (in part, with context) and their usual meaning. */
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

/* Report the mistake that stopped the parser: its place and, if known, the remedy. */
static PetscErrorCode report_syntax(const Reader *reader)
{
  const char *path = reader->path;
  const yaml_parser_t *parser = &reader->parser;
  RgDiagnostics *diagnostics = reader->diagnostics;
  const RgPlace place = place_of(reader, parser->problem_mark);
  const char *problem = parser->problem ? parser->problem : "not YAML";
  char byte = byte_at(reader->text, reader->length, parser->problem_mark);

  if (parser->error == YAML_READER_ERROR)
    return rg_diagnostics_add(diagnostics, (RgPlace){path, 0, 0}, "%s (byte %zu)", problem,
                              parser->problem_offset);
  if (contains(problem, "cannot start any token") && byte == '\t')
    return rg_diagnostics_add(diagnostics, place, "a tab is not accepted here: indent with spaces");
  if (contains(problem, "cannot start any token") && byte)
    return rg_diagnostics_add(diagnostics, place, "text that begins with '%c' must be quoted",
                              byte);
  for (int i = 0; meanings[i].problem; i++)
    if (contains(problem, meanings[i].problem) && contains(parser->context, meanings[i].context))
      return rg_diagnostics_add(diagnostics, place, "%s", meanings[i].meaning);
  return rg_diagnostics_add(diagnostics, place, "not YAML: %s%s%s",
                            parser->context ? parser->context : "", parser->context ? ", " : "",
                            problem);
}

/* ---- nodes ----------------------------------------------------------------------------------- */

/* Read the next event; a syntax mistake stops the reading. */
static PetscErrorCode next_event(Reader *reader)
{
  if (reader->has_event) yaml_event_delete(&reader->event);
  reader->has_event = false;
  if (reader->stopped) return 0;
  if (!yaml_parser_parse(&reader->parser, &reader->event)) {
    PetscCheck(reader->parser.error != YAML_MEMORY_ERROR, PETSC_COMM_SELF, PETSC_ERR_MEM,
               "out of memory while reading %s", reader->path);
    reader->stopped = true;
    return report_syntax(reader);
  }
  reader->has_event = true;
  return 0;
}

/* Create a node of the tree at the current event. */
static PetscErrorCode create_node(Reader *reader, RgYamlKind kind, RgYamlNode **node)
{
  const yaml_mark_t mark = reader->event.start_mark;
  const RgYamlNode place = {.line = (int)mark.line + 1, .column = (int)mark.column + 1};

  PetscCall(rg_yaml_add(reader->tree, &place, NULL, node));
  (*node)->kind = kind;
  return 0;
}

static void grow_by(RgYamlNode *node, const RgYamlNode *child)
{
  node->weight += child->weight;
  if (node->height < child->height + 1) node->height = child->height + 1;
}

static const char *anchor_of(const yaml_event_t *event)
{
  if (event->type == YAML_SCALAR_EVENT) return (const char *)event->data.scalar.anchor;
  if (event->type == YAML_SEQUENCE_START_EVENT)
    return (const char *)event->data.sequence_start.anchor;
  if (event->type == YAML_MAPPING_START_EVENT)
    return (const char *)event->data.mapping_start.anchor;
  return NULL;
}

static bool has_tag(const yaml_event_t *event)
{
  if (event->type == YAML_SCALAR_EVENT) return event->data.scalar.tag;
  if (event->type == YAML_SEQUENCE_START_EVENT) return event->data.sequence_start.tag;
  return event->type == YAML_MAPPING_START_EVENT && event->data.mapping_start.tag;
}

/* Register the anchor of the current event. It receives its node when that is complete, so an
   alias inside its own anchor finds nothing. *slot: number of the anchor, -1 without anchor. */
static PetscErrorCode open_anchor(Reader *reader, int *slot)
{
  const char *name = anchor_of(&reader->event);

  *slot = -1;
  if (!name) return 0;
  for (int i = 0; i < reader->n_anchors; i++) {
    if (strcmp(reader->anchors[i].name, name)) continue;
    return stop(reader, "the anchor '&%.60s' is defined twice", name);
  }
  if (reader->n_anchors == RG_YAML_MAX_ANCHORS) return stop(reader, "too many anchors");
  PetscCall(RG_GROW(reader->n_anchors, reader->anchors));
  *slot = reader->n_anchors++;
  reader->anchors[*slot] = (Anchor){NULL, NULL};
  return PetscStrallocpy(name, &reader->anchors[*slot].name);
}

static PetscErrorCode read_node(Reader *reader, int depth, RgYamlNode **node);

/* Find the node of an alias. The node is shared, but limits count it like a copy. */
static PetscErrorCode read_alias(Reader *reader, int depth, RgYamlNode **node)
{
  const char *name = (const char *)reader->event.data.alias.anchor;

  *node = NULL;
  for (int i = 0; i < reader->n_anchors; i++)
    if (!strcmp(reader->anchors[i].name, name)) *node = (RgYamlNode *)reader->anchors[i].node;
  if (!*node) return stop(reader, "the alias '*%.60s' has no complete anchor before it", name);
  if (depth + (*node)->height - 1 > RG_YAML_MAX_DEPTH)
    stop(reader, "the file is nested more than %d levels deep", RG_YAML_MAX_DEPTH);
  else if (reader->n_nodes > RG_YAML_MAX_NODES - (*node)->weight)
    stop(reader, "the file has more than %d values, aliases expanded", RG_YAML_MAX_NODES);
  else reader->n_nodes += (*node)->weight;
  return 0;
}

static PetscErrorCode read_scalar(Reader *reader, RgYamlNode **node)
{
  const yaml_event_t *event = &reader->event;
  const char *value = (const char *)event->data.scalar.value;

  PetscCall(create_node(reader, RG_YAML_SCALAR, node));
  if (memchr(value, 0, event->data.scalar.length))
    return stop(reader, "a NUL character is not accepted");
  (*node)->plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
  return PetscStrallocpy(value, &(*node)->text);
}

static PetscErrorCode read_list(Reader *reader, int depth, RgYamlNode **node)
{
  PetscCall(create_node(reader, RG_YAML_LIST, node));
  PetscCall(next_event(reader));
  while (!reader->stopped && reader->event.type != YAML_SEQUENCE_END_EVENT) {
    RgYamlNode *item = NULL;
    PetscCall(read_node(reader, depth + 1, &item));
    if (reader->stopped) break;
    PetscCall(RG_GROW((*node)->n, (*node)->items));
    (*node)->items[(*node)->n++] = item;
    grow_by(*node, item);
    PetscCall(next_event(reader));
  }
  return 0;
}

/* Read the key at the current event into a new entry of the map, with value NULL. Anything but a
   key stops the reading. */
static PetscErrorCode read_key(Reader *reader, RgYamlNode *map)
{
  const yaml_event_t *event = &reader->event;
  RgYamlNode *key = NULL;

  if (event->type != YAML_SCALAR_EVENT || has_tag(event) || anchor_of(event))
    return stop(reader, "a key must be plain text");
  PetscCall(read_scalar(reader, &key));
  if (reader->stopped) return 0;
  if (!key->text[0] || (key->plain && !strcmp(key->text, "<<")))
    return stop(reader, "%s",
                key->text[0] ? "merge keys ('<<') are not accepted: write the settings out"
                             : "a key is missing before ':'");
  PetscCall(RG_GROW(map->n, map->entries));
  map->entries[map->n++] = (RgYamlEntry){key->text, key->line, key->column, NULL};
  key->text = NULL; /* the map owns it now */
  return 0;
}

static int compare_entries(const void *left, const void *right)
{
  const RgYamlEntry *a = *(const RgYamlEntry *const *)left, *b = *(const RgYamlEntry *const *)right;
  int order = strcmp(a->key, b->key);
  return order ? order : (a > b) - (a < b);
}

static PetscErrorCode read_map(Reader *reader, int depth, RgYamlNode **node)
{
  PetscCall(create_node(reader, RG_YAML_MAP, node));
  PetscCall(next_event(reader));
  while (!reader->stopped && reader->event.type != YAML_MAPPING_END_EVENT) {
    RgYamlNode *value = NULL;
    PetscCall(read_key(reader, *node));
    PetscCall(next_event(reader));
    if (reader->stopped) break;
    PetscCall(read_node(reader, depth + 1, &value));
    if (reader->stopped) break;
    (*node)->entries[(*node)->n - 1].value = value;
    grow_by(*node, value);
    PetscCall(next_event(reader));
  }
  if (!reader->stopped && (*node)->n > 1) {
    /* Report each repetition of a key of the map. */
    const RgYamlNode *map = *node;
    const RgYamlEntry **sorted;
    PetscCall(PetscMalloc1(map->n, &sorted));
    for (int i = 0; i < map->n; i++) sorted[i] = &map->entries[i];
    qsort(sorted, (size_t)map->n, sizeof(RgYamlEntry *), compare_entries);
    for (int i = 1; i < map->n; i++) {
      if (strcmp(sorted[i - 1]->key, sorted[i]->key)) continue;
      rg_diagnostics_add(
        reader->diagnostics, (RgPlace){reader->path, sorted[i]->line, sorted[i]->column},
        "duplicate key '%s' (first in line %d)", sorted[i]->key, sorted[i - 1]->line);
    }
    PetscCall(PetscFree(sorted));
  }
  return 0;
}

/* Read the node at the current event; on return, its last event is current. */
static PetscErrorCode read_node(Reader *reader, int depth, RgYamlNode **node)
{
  int slot = -1;

  if (reader->event.type == YAML_ALIAS_EVENT) return read_alias(reader, depth, node);
  if (has_tag(&reader->event))
    stop(reader, "tags ('!') are not accepted; quote text that begins so");
  else if (depth > RG_YAML_MAX_DEPTH)
    stop(reader, "the file is nested more than %d levels deep", RG_YAML_MAX_DEPTH);
  else if (++reader->n_nodes > RG_YAML_MAX_NODES)
    stop(reader, "the file has more than %d values", RG_YAML_MAX_NODES);
  else PetscCall(open_anchor(reader, &slot));
  if (reader->stopped) return 0;
  if (reader->event.type == YAML_SCALAR_EVENT) PetscCall(read_scalar(reader, node));
  else if (reader->event.type == YAML_SEQUENCE_START_EVENT)
    PetscCall(read_list(reader, depth, node));
  else PetscCall(read_map(reader, depth, node));
  if (!reader->stopped && slot >= 0) reader->anchors[slot].node = *node;
  return 0;
}

/* Read STREAM-START, DOCUMENT-START, the root, DOCUMENT-END, STREAM-END. */
static PetscErrorCode read_document(Reader *reader)
{
  PetscCall(next_event(reader));
  PetscCall(next_event(reader));
  if (reader->stopped || reader->event.type == YAML_STREAM_END_EVENT) return 0;
  PetscCall(next_event(reader));
  if (reader->stopped) return 0;
  PetscCall(read_node(reader, 1, &reader->tree->root));
  PetscCall(next_event(reader));
  PetscCall(next_event(reader));
  if (reader->stopped || reader->event.type == YAML_STREAM_END_EVENT) return 0;
  return stop(reader, "a second document begins here; a study file is one document");
}

PetscErrorCode rg_yaml_parse(const char *path, const char *text, size_t length, RgYamlTree *tree,
                             RgDiagnostics *diagnostics)
{
  Reader reader = {
    .path = path, .text = text, .length = length, .tree = tree, .diagnostics = diagnostics};

  const int before = diagnostics->n;

  *tree = (RgYamlTree){NULL, NULL};
  PetscCall(check_text(path, text, length, diagnostics));
  if (diagnostics->n > before) return 0;
  PetscCheck(yaml_parser_initialize(&reader.parser), PETSC_COMM_SELF, PETSC_ERR_MEM,
             "no memory for the YAML parser");
  const size_t skip = length >= 3 && !memcmp(text, "\xEF\xBB\xBF", 3) ? 3 : 0; /* byte-order mark */
  yaml_parser_set_encoding(&reader.parser, YAML_UTF8_ENCODING);
  yaml_parser_set_input_string(&reader.parser, (const unsigned char *)text + skip, length - skip);
  PetscErrorCode error = read_document(&reader);
  if (reader.has_event) yaml_event_delete(&reader.event);
  yaml_parser_delete(&reader.parser);
  for (int i = 0; i < reader.n_anchors; i++) PetscCall(PetscFree(reader.anchors[i].name));
  PetscCall(PetscFree(reader.anchors));
  PetscCall(error);
  if (reader.stopped) tree->root = NULL;
  return 0;
}

PetscErrorCode rg_yaml_add(RgYamlTree *tree, const RgYamlNode *place, const char *text,
                           RgYamlNode **node)
{
  PetscCall(PetscNew(node));
  **node = (RgYamlNode){.kind = text ? RG_YAML_SCALAR : RG_YAML_MAP,
                        .line = place->line,
                        .column = place->column,
                        .plain = text != NULL,
                        .weight = 1,
                        .height = 1,
                        .next = tree->nodes};
  tree->nodes = *node;
  return text ? PetscStrallocpy(text, &(*node)->text) : 0;
}

PetscErrorCode rg_yaml_destroy(RgYamlTree *tree)
{
  for (RgYamlNode *node = tree->nodes, *next; node; node = next) {
    next = node->next;
    for (int i = 0; node->kind == RG_YAML_MAP && i < node->n; i++)
      PetscCall(PetscFree(node->entries[i].key));
    PetscCall(RG_FREE(&node->entries, &node->items, &node->text, &node));
  }
  *tree = (RgYamlTree){NULL, NULL};
  return 0;
}

const RgYamlEntry *rg_yaml_find(const RgYamlNode *map, const char *key)
{
  for (int i = 0; i < map->n; i++)
    if (!strcmp(map->entries[i].key, key)) return &map->entries[i];
  return NULL;
}

const RgYamlNode *rg_yaml_value(const RgYamlNode *map, const char *key)
{
  const RgYamlEntry *entry = rg_yaml_find(map, key);

  return entry ? entry->value : NULL;
}

bool rg_yaml_is_null(const RgYamlNode *node)
{
  static const char *const nothing[] = {"", "~", "null", "Null", "NULL"};
  size_t i = 0;

  if (node->kind != RG_YAML_SCALAR || !node->plain) return false;
  while (i < 5 && strcmp(node->text, nothing[i])) i++;
  return i < 5;
}

const char *rg_yaml_describe(const RgYamlNode *node, char buffer[64])
{
  if (node->kind == RG_YAML_LIST || node->kind == RG_YAML_MAP)
    snprintf(buffer, 64, node->kind == RG_YAML_LIST ? "a list" : "a map");
  else if (rg_yaml_is_null(node)) snprintf(buffer, 64, "nothing");
  else snprintf(buffer, 64, "'%.40s'%s", node->text, strlen(node->text) > 40 ? "..." : "");
  return buffer;
}
