/* Wrong study files. Each case of bad_studies/ begins with comment lines `# expect: LINE:COLUMN:
   MESSAGE`, which say what mistakes must be found, all of them and no others; the messages may be
   longer. Lines count from the end of these comments. Keys of the smallest study that a case lacks
   are added behind it, unless `# as it is` stands before it. */
#include "study_files.h"

#define MARK "# expect: "

/* A test of a case. `expected` begins with its messages; the rest of the file follows them. */
typedef void (*CaseTest)(const char *path, const char *expected, const char *text, size_t length);
static CaseTest test_case;
static int n_cases;

static void test_cases(const char *path, const char *text, size_t length)
{
  static const char *const smallest[] = {"\nstudy: bad", "\ncommon: {iterations: 5}",
                                         "\nproblems: [branin]", "\nalgorithms: [random]"};
  static const char whole[] = "# as it is\n";

  for (const char *expected = text, *next; expected < text + length; expected = next, n_cases++) {
    const char *body = expected;
    RgText study = {0};
    while (!strncmp(body, MARK, strlen(MARK))) body = strchr(body, '\n') + 1;
    next = strstr(body, "\n" MARK);
    next = next ? next + 1 : text + length;
    const bool complete = strncmp(body, whole, strlen(whole)) != 0;
    if (!complete) body += strlen(whole);
    RG_OK(rg_text_add(&study, "\n"));
    RG_OK(rg_text_add_bytes(&study, body, (size_t)(next - body)));
    for (int k = 0; k < 4 && complete; k++) {
      char key[16];
      snprintf(key, sizeof(key), "%.*s", (int)strcspn(smallest[k], ":") + 1, smallest[k]);
      if (!strstr(study.data, key)) RG_OK(rg_text_add(&study, "%s\n", smallest[k] + 1));
    }
    test_case(path, expected, study.data + 1, study.length - 1);
    RG_OK(rg_text_clear(&study));
  }
}

static void check_case(const char *path, const char *expected, const char *text, size_t length)
{
  RgStudy study;
  RgDiagnostics diagnostics = {0};
  int n = 0;

  RG_OK(rg_study_parse(NULL, path, text, length, &study, &diagnostics));
  RG_OK(rg_study_destroy(&study));
  for (; !strncmp(expected, MARK, strlen(MARK)); expected = strchr(expected, '\n') + 1, n++) {
    const char *wanted = expected + strlen(MARK);
    const int size = (int)strcspn(wanted, "\n");
    char found[600] = "nothing";
    if (n < diagnostics.n) {
      const RgDiagnostic *d = &diagnostics.list[n];
      assert_string_equal(d->place.file, path);
      snprintf(found, sizeof(found), "%d:%d: %s", d->place.line, d->place.column, d->message);
    }
    if (strncmp(found, wanted, (size_t)size))
      fail_msg("%s: expected\n  %.*s\nfound\n  %s", path, size, wanted, found);
  }
  assert_true(n > 0);
  if (diagnostics.n > n)
    fail_msg("%s: %d mistakes expected in\n%s\n%d found, the next is\n  %s", path, n, text,
             diagnostics.n, diagnostics.list[n].message);
}

RG_TEST(every_mistake_is_found_where_it_is)
{
  test_case = check_case;
  n_cases = 0;
  for_each_study(RG_TEST_DATA "/unit/study/bad_studies", test_cases);
  assert_true(n_cases >= 216);
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

/* Every study cut short at every 7th byte, and with bytes replaced by special characters of YAML. */
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

static void parse_case(const char *path, const char *expected, const char *text, size_t length)
{
  (void)expected;
  parse_mutants(path, text, length);
}

RG_TEST(mutants_do_no_harm)
{
  test_case = parse_case;
  for_each_study(RG_TEST_DATA "/unit/study/bad_studies", test_cases);
  for_each_study(RG_TEST_DATA "/unit/study/good_studies", parse_mutants);
}
