#include "test_main.h"

#include <stdio.h>
#include <stdlib.h>

#include "study/file/yaml_tree.h"

static RgYamlTree tree;

/* Parses a text that must be valid; returns the root, which lives until the next text. */
static const RgYamlNode *parse(const char *text)
{
  RgDiagnostics diagnostics = {0};

  RG_OK(rg_yaml_destroy(&tree));
  RG_OK(rg_yaml_parse("t.yaml", text, strlen(text), &tree, &diagnostics));
  if (diagnostics.n) fail_msg("%s", diagnostics.list[0].message);
  return tree.root;
}

/* Parses a text that must be invalid: one mistake at a place, with a message that begins with
   the given text. */
static void reject(const char *text, size_t length, int line, int column, const char *message)
{
  RgDiagnostics diagnostics = {0};

  RG_OK(rg_yaml_destroy(&tree));
  RG_OK(rg_yaml_parse("t.yaml", text, length, &tree, &diagnostics));
  RG_OK(rg_yaml_destroy(&tree));
  assert_int_equal(diagnostics.n, 1);
  const RgDiagnostic *d = &diagnostics.list[0];
  if (strncmp(d->message, message, strlen(message)))
    fail_msg("'%s' is not '%s'", d->message, message);
  assert_string_equal(d->place.file, "t.yaml");
  assert_int_equal(d->place.line, line);
  assert_int_equal(d->place.column, column);
}

RG_TEST(nodes_know_their_kind_and_place)
{
  char got[64];
  const RgYamlNode *root = parse("# comment\na: 1e-3\nb:\n  - no\n  - [x, 'y z']\n  - {k: v}\n");

  assert_int_equal(root->kind, RG_YAML_MAP);
  assert_int_equal(root->n, 2);
  const RgYamlEntry *a = rg_yaml_find(root, "a"), *b = rg_yaml_find(root, "b");
  assert_null(rg_yaml_find(root, "c"));
  assert_int_equal(a->line, 2);
  assert_int_equal(a->column, 1);
  assert_int_equal(a->value->column, 4);
  assert_string_equal(a->value->text, "1e-3");
  assert_int_equal(b->value->kind, RG_YAML_LIST);
  assert_int_equal(b->value->n, 3);
  assert_string_equal(b->value->items[0]->text, "no"); /* the text is not a boolean yet */
  assert_int_equal(b->value->items[0]->line, 4);
  assert_int_equal(b->value->items[0]->column, 5);
  assert_string_equal(b->value->items[1]->items[1]->text, "y z");
  assert_false(b->value->items[1]->items[1]->plain);
  assert_string_equal(rg_yaml_find(b->value->items[2], "k")->value->text, "v");
  assert_string_equal(rg_yaml_describe(b->value, got), "a list");
  assert_string_equal(rg_yaml_describe(root, got), "a map");
  assert_string_equal(rg_yaml_describe(a->value, got), "'1e-3'");
}

RG_TEST(columns_count_characters)
{
  const RgYamlNode *root = parse("{\"\xce\xb2\": \xce\xb1\xce\xb2, k: v}\n");

  assert_string_equal(root->entries[0].key, "\xce\xb2");
  assert_int_equal(root->entries[1].column, 11);
}

RG_TEST(a_byte_order_mark_and_dos_line_ends_are_fine)
{
  const RgYamlNode *root = parse("\xef\xbb\xbf"
                                 "a: 1\r\nb: 2\r\n");

  assert_string_equal(root->entries[0].key, "a");
  assert_string_equal(root->entries[0].value->text, "1");
  assert_int_equal(root->entries[1].line, 2);
}

RG_TEST(nothing_is_told_from_a_text)
{
  static const char *const nothing[] = {"a:", "a: ~", "a: null", "a: # x"};
  static const char *const text[] = {"a: ''", "a: \"null\"", "a: nil", "a: '~'", "a: |\n  null\n"};
  char got[64];

  for (size_t i = 0; i < sizeof(nothing) / sizeof(*nothing); i++) {
    assert_true(rg_yaml_is_null(parse(nothing[i])->entries[0].value));
    assert_string_equal(rg_yaml_describe(tree.root->entries[0].value, got), "nothing");
  }
  for (size_t i = 0; i < sizeof(text) / sizeof(*text); i++)
    assert_false(rg_yaml_is_null(parse(text[i])->entries[0].value));
}

RG_TEST(block_texts_keep_their_lines)
{
  const RgYamlNode *root = parse("a: |\n  one\n  two\nb: >\n  one\n  two\n");

  assert_string_equal(root->entries[0].value->text, "one\ntwo\n");
  assert_string_equal(root->entries[1].value->text, "one two\n");
  assert_false(root->entries[0].value->plain);
}

RG_TEST(aliases_share_what_they_stand_for)
{
  const RgYamlNode *root = parse("a: &x {k: [1, 2]}\nb: *x\nc: &x2 7\nd: [*x2, *x]\n");

  assert_ptr_equal(root->entries[0].value, root->entries[1].value);
  assert_int_equal(root->entries[1].value->line, 1);
  assert_string_equal(root->entries[3].value->items[0]->text, "7");
  assert_int_equal(root->entries[0].value->weight, 4);
  assert_int_equal(root->weight, 1 + 4 + 4 + 1 + 1 + 1 + 4);
  assert_int_equal(root->height, 5);
}

RG_TEST(empty_texts_have_no_root)
{
  assert_null(parse(""));
  assert_null(parse("# only a comment\n\n"));
}

RG_TEST(every_duplicate_is_named)
{
  const char *text = "b: 1\na: 1\nb: 2\nc: {x: 1, x: 2}\na: 3\n";
  RgDiagnostics diagnostics = {0};

  RG_OK(rg_yaml_parse("t.yaml", text, strlen(text), &tree, &diagnostics));
  RG_OK(rg_yaml_destroy(&tree));
  assert_int_equal(diagnostics.n, 3);
  assert_string_equal(diagnostics.list[0].message, "duplicate key 'x' (first in line 4)");
  assert_string_equal(diagnostics.list[1].message, "duplicate key 'a' (first in line 2)");
  assert_string_equal(diagnostics.list[2].message, "duplicate key 'b' (first in line 1)");
}

RG_TEST(other_encodings_are_refused)
{
  static const char utf16le[] = "\xff\xfe"
                                "a\0:\0 \0"
                                "1\0",
                    utf16be[] = "\xfe\xff\0a\0:\0 \0"
                                "1";

  reject(utf16le, sizeof(utf16le) - 1, 1, 1, "the file is UTF-16");
  reject(utf16be, sizeof(utf16be) - 1, 1, 1, "the file is UTF-16");
  reject("a: \xed\xa0\x80", 6, 1, 4, "byte 0xED is not UTF-8");     /* a surrogate */
  reject("a: \xf4\x90\x80\x80", 7, 1, 4, "byte 0xF4 is not UTF-8"); /* beyond U+10FFFF */
  reject("a: \xe0\x80\xaf", 6, 1, 4, "byte 0xE0 is not UTF-8");     /* overlong */
  reject("a: 1\nb: \x80", 9, 2, 4, "byte 0x80 is not UTF-8");
  reject("a: \xc2\x9b", 5, 1, 4, "control character U+009B");
  reject("a: \x7f", 4, 1, 4, "control character U+007F");
  reject("a: \xef\xbb\xbf", 6, 1, 4, "control character U+FEFF"); /* a mark in the middle */
}

RG_TEST(limits_hold)
{
  const size_t size = RG_YAML_MAX_BYTES + 1;
  char *big = malloc(size);

  memset(big, '#', size);
  reject(big, size, 0, 0, "the file has 4194305 bytes; a study file has at most 4194304");
  /* 4 MiB of opening brackets: refused at the depth limit, not after reading them all. */
  memset(big, '[', size - 1);
  reject(big, size - 1, 1, 33, "the file is nested more than 32 levels deep");
  /* A list of 200001 values. */
  for (size_t i = 0; i + 1 < size; i += 2) memcpy(big + i, i ? ",1" : "[1", 2);
  memcpy(big + 400000, ",]", 2);
  reject(big, 400002, 1, 2 * 99999 + 2, "the file has more than 100000 values");
  free(big);
}

RG_TEST(depth_counts_aliases)
{
  char text[512];

  snprintf(text, sizeof(text), "a: &x %.20s1%.20s\nb: %.12s*x%.12s\n", "[[[[[[[[[[[[[[[[[[[[[",
           "]]]]]]]]]]]]]]]]]]]]]", "[[[[[[[[[[[[[[[[[[[[[", "]]]]]]]]]]]]]]]]]]]]]");
  reject(text, strlen(text), 2, 16, "the file is nested more than 32 levels deep");
}

RG_TEST(a_failed_parse_leaves_nothing_behind)
{
  RgDiagnostics diagnostics = {0};

  RG_OK(rg_yaml_parse("t.yaml", "a: [1, 2", 8, &tree, &diagnostics));
  assert_null(tree.root);
  assert_int_equal(diagnostics.n, 1);
  RG_OK(rg_yaml_destroy(&tree));
  assert_null(tree.nodes);
}
