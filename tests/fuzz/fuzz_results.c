/* libFuzzer: the reader of shards and results files. HDF5 itself is not tested here, so an input is a
   list of edits that leave a valid HDF5 file: datasets and attributes that go, move, or come back
   with another type, shape or value. */
#include "fuzz.h"

#include "fake_study.h"
#include "study/store/index.h"

/* ---- the input ------------------------------------------------------------------------------- */

typedef struct {
  const uint8_t *at, *end;
} Input;

static unsigned take(Input *input)
{
  return input->at < input->end ? *input->at++ : 0;
}

static uint64_t take_word(Input *input)
{
  uint64_t word = 0;

  for (int i = 0; i < 8; i++) word = word << 8 | take(input);
  return word;
}

static hsize_t take_size(Input *input)
{
  static const hsize_t sizes[] = {
    0, 1, 2, 3, FAKE_CELLS, FAKE_ROWS, 8, 255, 70000, (hsize_t)1 << 31, (hsize_t)1 << 40};

  return sizes[take(input) % (sizeof(sizes) / sizeof(sizes[0]))];
}

/* ---- the file that is edited ----------------------------------------------------------------- */

enum { MAX_TARGETS = 256 };

typedef struct {
  unsigned char *bytes;
  size_t length;
  int n;
  char *target[MAX_TARGETS]; /* paths of its groups and datasets */
} Base;

static herr_t add_target(hid_t file, const char *name, const H5O_info_t *object, void *closure)
{
  Base *base = closure;

  (void)file, (void)object;
  if (base->n < MAX_TARGETS && strcmp(name, ".")) base->target[base->n++] = strdup(name);
  return 0;
}

static const Base *base_file(void)
{
  static Base base;
  RgMedium image;

  if (base.n) return &base;
  FUZZ_OK(fake_image(&image));
  hid_t file = rg_medium_open(&image, false);
  FUZZ_HOLDS(file >= 0 && H5Ovisit(file, H5_INDEX_NAME, H5_ITER_INC, add_target, &base) >= 0);
  (void)rg_medium_close(&image, file);
  base.length = image.length;
  base.bytes = malloc(base.length); /* for the life of the process: none of PETSc's memory */
  memcpy(base.bytes, image.bytes, base.length);
  FUZZ_OK(rg_medium_clear(&image));
  return &base;
}

/* A copy that may be written to, in memory. */
static hid_t open_copy(const Base *base)
{
  hid_t access = H5Pcreate(H5P_FILE_ACCESS), file;

  H5Pset_fapl_core(access, 64 * 1024, false);
  H5Pset_file_image(access, base->bytes, base->length);
  file = H5Fopen("edited", H5F_ACC_RDWR, access);
  H5Pclose(access);
  return file;
}

/* The bytes of the file; NULL if there are more than the test covers. */
static void *close_copy(hid_t file, size_t *length)
{
  void *bytes = NULL;
  ssize_t size;

  H5Fflush(file, H5F_SCOPE_GLOBAL);
  size = H5Fget_file_image(file, NULL, 0);
  if (size > 0 && size < 64 << 20) {
    bytes = malloc((size_t)size);
    H5Fget_file_image(file, bytes, (size_t)size);
  }
  H5Fclose(file);
  *length = bytes ? (size_t)size : 0;
  return bytes;
}

/* ---- edits ----------------------------------------------------------------------------------- */

static hid_t take_type(Input *input)
{
  hid_t type;

  switch (take(input) % 14) {
  case 0: return H5Tcopy(H5T_IEEE_F64LE);
  case 1: return H5Tcopy(H5T_IEEE_F32BE);
  case 2: return H5Tcopy(H5T_STD_I8LE);
  case 3: return H5Tcopy(H5T_STD_I64BE);
  case 4: return H5Tcopy(H5T_STD_U64LE);
  case 5: return rg_h5_text_type();
  case 6:
    type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, 1 + take(input));
    return type;
  case 7:
    type = H5Tcreate(H5T_COMPOUND, 16);
    H5Tinsert(type, "a", 0, H5T_NATIVE_DOUBLE);
    H5Tinsert(type, "b", 8, H5T_NATIVE_INT);
    return type;
  case 8:
    type = H5Tcreate(H5T_OPAQUE, 8);
    H5Tset_tag(type, "opaque");
    return type;
  case 9: return H5Tvlen_create(H5T_NATIVE_DOUBLE);
  case 10: return H5Tenum_create(H5T_NATIVE_INT);
  case 11: {
    hsize_t size = 1 + take(input);
    return H5Tarray_create2(H5T_NATIVE_DOUBLE, 1, &size);
  }
  case 12: return H5Tcopy(H5T_STD_REF_OBJ);
  default: return H5Tcopy(H5T_STD_U8LE);
  }
}

static hid_t take_space(Input *input)
{
  hsize_t size[4];
  int rank = (int)(take(input) % 5);

  if (take(input) % 8 == 7) return H5Screate(H5S_NULL);
  for (int i = 0; i < rank; i++) size[i] = take_size(input);
  return rank ? H5Screate_simple(rank, size, NULL) : H5Screate(H5S_SCALAR);
}

static void delete_target(hid_t file, const char *path, Input *input)
{
  (void)input;
  H5Ldelete(file, path, H5P_DEFAULT);
}

/* Chunked and never allocated, or small, so that any size costs nothing. */
static void replace_target(hid_t file, const char *path, Input *input)
{
  hid_t type = take_type(input), space = take_space(input), dataset;
  hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
  const hsize_t chunk[4] = {1, 1, 1, 1};

  bool chunked = take(input) & 1 || H5Sget_simple_extent_npoints(space) > 100000;
  if (chunked && H5Sget_simple_extent_ndims(space) > 0)
    H5Pset_chunk(creation, H5Sget_simple_extent_ndims(space), chunk);
  H5Ldelete(file, path, H5P_DEFAULT);
  dataset = H5Dcreate2(file, path, type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
  if (dataset >= 0) H5Dclose(dataset);
  H5Pclose(creation);
  H5Sclose(space);
  H5Tclose(type);
}

/* One element of a dataset becomes a number. */
static void write_number(hid_t file, const char *path, Input *input)
{
  hid_t dataset = H5Dopen2(file, path, H5P_DEFAULT), space, one;
  hsize_t at[4] = {0}, size[4] = {0}, count = 1;
  uint64_t value = take_word(input);
  int rank;

  if (dataset < 0) return;
  space = H5Dget_space(dataset);
  one = H5Screate_simple(1, &count, NULL);
  rank = H5Sget_simple_extent_ndims(space);
  if (rank > 0 && rank <= 4 && H5Sget_simple_extent_npoints(space) > 0) {
    H5Sget_simple_extent_dims(space, size, NULL);
    for (int i = 0; i < rank; i++) at[i] = take(input) % size[i];
    H5Sselect_elements(space, H5S_SELECT_SET, 1, at);
    H5Dwrite(dataset, take(input) & 1 ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT64, one, space,
             H5P_DEFAULT, &value);
  }
  H5Sclose(one);
  H5Sclose(space);
  H5Dclose(dataset);
}

/* Up to 1 KiB of the following bytes, repeated up to 255 times. */
static char *take_text(Input *input)
{
  size_t length = take(input) * 4, times = 1 + take(input) % 255, n = 0;
  char *text = malloc(length * times + 1);

  for (size_t i = 0; i < length && input->at < input->end; i++) text[n++] = (char)take(input);
  for (size_t i = n; i < n * times; i++) text[i] = text[i - n];
  text[n * times] = '\0';
  return text;
}

static void write_text(hid_t file, const char *path, Input *input)
{
  hid_t dataset = H5Dopen2(file, path, H5P_DEFAULT), type = rg_h5_text_type(), space;
  hssize_t n;

  if (dataset >= 0) {
    space = H5Dget_space(dataset);
    n = H5Sget_simple_extent_npoints(space);
    if (n > 0 && n <= 64) {
      char *text = take_text(input), *list[64];
      int null = (int)(take(input) % 64);
      for (int i = 0; i < 64; i++) list[i] = i == null ? NULL : text;
      H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, list);
      free(text);
    }
    H5Sclose(space);
    H5Dclose(dataset);
  }
  H5Tclose(type);
}

static const char *take_target(const Base *base, Input *input)
{
  return base->target[take(input) % (unsigned)base->n];
}

/* Under another name, as a second name, or as a link that leads nowhere or in a circle. */
static void link_target(hid_t file, const char *path, Input *input)
{
  const char *other = take_target(base_file(), input);

  switch (take(input) % 4) {
  case 0:
    H5Ldelete(file, other, H5P_DEFAULT);
    H5Lmove(file, path, file, other, H5P_DEFAULT, H5P_DEFAULT);
    return;
  case 1:
    H5Ldelete(file, other, H5P_DEFAULT);
    H5Lcreate_hard(file, path, file, other, H5P_DEFAULT, H5P_DEFAULT);
    return;
  case 2:
    H5Ldelete(file, path, H5P_DEFAULT);
    H5Lcreate_soft(path, file, path, H5P_DEFAULT, H5P_DEFAULT);
    return;
  default:
    H5Ldelete(file, path, H5P_DEFAULT);
    H5Lcreate_hard(file, "/", file, path, H5P_DEFAULT, H5P_DEFAULT);
  }
}

/* New groups and datasets beside the known ones. */
static void add_object(hid_t file, const char *path, Input *input)
{
  char name[600], *text = take_text(input);

  for (char *p = text; *p; p++)
    if (*p == '/' && take(input) & 1) *p = '_';
  snprintf(name, sizeof(name), "%s/%.500s", path, text);
  if (take(input) & 1) {
    hid_t group = H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (group >= 0) H5Gclose(group);
  } else {
    replace_target(file, name, input);
  }
  free(text);
}

static void edit_attribute(hid_t file, const char *path, Input *input)
{
  static const char *const others[] = {"problem_label", "description", "units"};
  unsigned which = take(input) % (unsigned)(rg_attribute_count + 3);
  const unsigned n = (unsigned)rg_attribute_count;
  const char *name = which < n ? rg_attributes[which].name : others[which - n];
  hid_t object = H5Oopen(file, which < n ? "/" : path, H5P_DEFAULT);
  unsigned how = take(input) % 4;
  RgFault fault = {0};

  if (object < 0) return;
  H5Adelete(object, name);
  if (how == 1) rg_h5_write_integer(object, name, (int64_t)take_word(input), &fault);
  if (how == 2) {
    char *text = take_text(input);
    rg_h5_write_text(object, name, text, &fault);
    free(text);
  }
  if (how == 3) {
    hid_t type = take_type(input), space = take_space(input);
    hid_t attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    if (attribute >= 0) H5Aclose(attribute);
    H5Sclose(space);
    H5Tclose(type);
  }
  H5Oclose(object);
}

/* ---- reading --------------------------------------------------------------------------------- */

static void read_back(const void *bytes, size_t length)
{
  RgMedium medium = rg_medium_memory(bytes, length);
  RgCursor cursor = {0};
  RgFault fault = {0}, damage = {0};
  RgIndex index = {0};
  uint64_t checksum[2];

  FUZZ_OK(rg_container_open(&medium, &cursor.container, &fault));
  if (!fault.code) {
    FUZZ_OK(rg_index_add(&index, "edited", RG_ANYWHERE, &cursor, &damage));
    if (!damage.code) FUZZ_OK(rg_index_sort(&index));
  }
  while (rg_cursor_next(&cursor, &fault)) {
    damage = (RgFault){0};
    FUZZ_OK(rg_cursor_read(&cursor, &damage));
    if (!damage.code) FUZZ_OK(rg_record_checksum(cursor.record, checksum));
  }
  FUZZ_OK(rg_index_clear(&index));
  FUZZ_OK(rg_cursor_close(&cursor));
}

int rg_fuzz_one(const uint8_t *data, size_t size)
{
  static void (*const edits[])(hid_t, const char *,
                               Input *) = {delete_target, replace_target, write_number,  write_text,
                                           link_target,   add_object,     edit_attribute};
  Input input = {data, data + size};
  const Base *base = base_file();
  size_t length;
  hid_t file = open_copy(base);

  FUZZ_HOLDS(file >= 0);
  for (int i = 0; i < 8 && input.at < input.end; i++) {
    unsigned edit = take(&input) % (sizeof(edits) / sizeof(edits[0]));
    edits[edit](file, take_target(base, &input), &input);
  }
  void *bytes = close_copy(file, &length);
  if (bytes) read_back(bytes, length);
  free(bytes);
  return 0;
}
