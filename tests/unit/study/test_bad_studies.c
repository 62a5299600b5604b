/* Wrong study files. Each file of bad_studies/ says in comment lines `# expect: LINE:COLUMN:
   MESSAGE` which mistakes must be found, all of them and no others; the messages may be longer. */
#include "study_files.h"

static void check_bad_file(const char *path, const char *text, size_t length)
{
  static const char mark[] = "# expect: ";
  RgStudy study;
  RgDiagnostics diagnostics = {0};
  int n = 0;

  RG_OK(rg_study_parse(NULL, path, text, length, &study, &diagnostics));
  RG_OK(rg_study_destroy(&study));
  for (const char *line = text; !strncmp(line, mark, strlen(mark)); n++) {
    const char *expected = line + strlen(mark), *end = strchr(expected, '\n');
    const size_t size = (size_t)(end - expected);
    char found[600] = "nothing";
    if (n < diagnostics.n) {
      const RgDiagnostic *d = &diagnostics.list[n];
      assert_string_equal(d->place.file, path);
      snprintf(found, sizeof(found), "%d:%d: %s", d->place.line, d->place.column, d->message);
    }
    if (strncmp(found, expected, size))
      fail_msg("%s: expected\n  %.*s\nfound\n  %s", path, (int)size, expected, found);
    line = end + 1;
  }
  assert_true(n > 0);
  if (diagnostics.n > n)
    fail_msg("%s: %d mistakes expected, %d found, the next is\n  %s", path, n, diagnostics.n,
             diagnostics.list[n].message);
}

RG_TEST(every_mistake_is_found_where_it_is)
{
  assert_true(for_each_study(RG_TEST_DATA "/unit/study/bad_studies", check_bad_file) >= 130);
}

/* Parses any bytes; the outcome does not matter, but memory errors and failures do. */
static void parse_and_forget(const char *text, size_t length)
{
  RgStudy study;
  RgDiagnostics diagnostics = {0};

  RG_OK(rg_study_parse(NULL, "mutant.yaml", text, length, &study, &diagnostics));
  for (int i = 0; i < diagnostics.n && i < RG_DIAGNOSTICS_MAX; i++)
    assert_true(diagnostics.list[i].message[0]);
  if (!diagnostics.n) assert_true(study.n_cells > 0 && study.n_seeds > 0);
  RG_OK(rg_study_destroy(&study));
}

/* Every file cut short at every 7th byte, and with bytes replaced by special characters of YAML. */
static void parse_mutants(const char *path, const char *text, size_t length)
{
  static const char characters[] = "\n\t :-[]{}&*#'\"|>%,0a";
  char *copy;

  (void)path;
  if (length > 2000) return; /* the giants are tested as they are */
  RG_OK(PetscMalloc1(length + 1, &copy));
  for (size_t i = 0; i < length; i += 7) parse_and_forget(text, i);
  for (size_t i = 0; i < length; i += 5) {
    memcpy(copy, text, length + 1);
    copy[i] = characters[i / 5 % (sizeof(characters) - 1)];
    parse_and_forget(copy, length);
  }
  RG_OK(PetscFree(copy));
}

RG_TEST(mutants_do_no_harm)
{
  for_each_study(RG_TEST_DATA "/unit/study/bad_studies", parse_mutants);
  for_each_study(RG_TEST_DATA "/unit/study/good_studies", parse_mutants);
}
