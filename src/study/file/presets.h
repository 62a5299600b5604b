/* Presets of the surrogate block: `surrogate: {preset: NAME, ...}` inserts the settings of the
   preset before those that its entry has. */
#ifndef RG_STUDY_FILE_PRESETS_H
#define RG_STUDY_FILE_PRESETS_H

typedef struct {
  const char *name, *doc;
  const char *settings; /* "KEY: VALUE, ..." of the block surrogate, or maximiser.KEY */
} RgPreset;

enum { RG_PRESETS_MAX = 16 }; /* the NULL name at the end counts */
extern const RgPreset rg_presets[RG_PRESETS_MAX];

#endif
