/* Presets of the surrogate block: `surrogate: {preset: NAME, ...}` inserts the settings of the
   preset before those that its entry has. */
#ifndef RG_STUDY_FILE_PRESETS_H
#define RG_STUDY_FILE_PRESETS_H

#include "study/file/yaml_tree.h"

typedef struct {
  const char *key;  /* of the block surrogate, or maximiser.KEY */
  RgYamlNode value; /* a scalar */
} RgPresetSetting;

typedef struct {
  const char *name, *doc;
  const RgPresetSetting *settings; /* ends with a NULL key */
} RgPreset;

extern const RgPreset rg_presets[]; /* ends with a NULL name */

const RgPreset *rg_preset_find(const char *name); /* Find a preset; NULL if unknown. */

#endif
