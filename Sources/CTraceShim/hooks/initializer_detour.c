// Puts a function in front of an image's initialisers.
//
// While the loader has mapped an image but not relocated it, its dynamic section can be written to, and the loader will
// look there for the first function to call: at DT_INIT, or without one at DT_INIT_ARRAY. Both are addresses relative
// to the image, wherever they lead.

#define _GNU_SOURCE
#include "hooks/initializer_detour.h"

#include "check.h"
#include "hooks/hook.h"
#include "os/os.h"

#include <string.h>

// As many as LT_DETOUR_LIMIT.
LT_DEFINE_INITIALIZER_ENTRIES(lt_initializer_entries, 64, lt_initializer_reached);
_Static_assert(LT_DETOUR_LIMIT == 64, "entries");

typedef void initializer(int, char **, char **);

/// All are changed under the loader's lock.
static struct detour {
  bool isUsed; ///< all other members are set; `isNext` is not NULL
  void (*isNext)(void);
  initializer *original; ///< of DT_INIT
  initializer **array;   ///< in place of the image's own: the entry, then the functions of that
  const void *imageArray;
  size_t count; ///< of the image's own
} detours[LT_DETOUR_LIMIT];

/// Gives DT_INIT_ARRAY one function more. The others are known once the image is relocated, and are filled in when the
/// first is called.
static bool replace_array(const struct lt_loaded_image *image, struct detour *detour, uintptr_t entry) {
  ElfW(Dyn) *array = lt_loaded_image_entry(image, DT_INIT_ARRAY), *size = lt_loaded_image_entry(image, DT_INIT_ARRAYSZ);
  if (!array || !size || !lt_loaded_image_is_writable(image, (uintptr_t)array) ||
      !lt_loaded_image_is_writable(image, (uintptr_t)size))
    return false;
  detour->count = size->d_un.d_val / sizeof *detour->array;
  detour->imageArray = (const void *)(image->bias + array->d_un.d_ptr);
  detour->array = lt_map_private((detour->count + 1) * sizeof *detour->array);
  if (!detour->array) return false;
  detour->array[0] = (initializer *)entry;
  array->d_un.d_ptr = (uintptr_t)detour->array - image->bias;
  size->d_un.d_val += sizeof *detour->array;
  return true;
}

int lt_initializer_detour(const struct lt_loaded_image *image, void (*isNext)(void)) {
  LT_CHECK(isNext && image->bias <= image->start);
  for (int number = 0; number < LT_DETOUR_LIMIT; number++) {
    struct detour *detour = &detours[number];
    if (detour->isUsed) continue;
    *detour = (struct detour){.isUsed = true, .isNext = isNext};
    uintptr_t entry = (uintptr_t)lt_initializer_entries + (uintptr_t)number * LT_INITIALIZER_ENTRY_SIZE;
    ElfW(Dyn) *init = lt_loaded_image_entry(image, DT_INIT);
    if (init && lt_loaded_image_is_writable(image, (uintptr_t)init)) {
      detour->original = (initializer *)(image->bias + init->d_un.d_ptr);
      init->d_un.d_ptr = entry - image->bias;
      return number;
    }
    if (!init && replace_array(image, detour, entry)) return number;
    detour->isUsed = false;
    return -1;
  }
  return -1;
}

void lt_initializer_forget(int number) {
  LT_CHECK(number >= 0 && number < LT_DETOUR_LIMIT && detours[number].isUsed);
  struct detour *detour = &detours[number];
  if (detour->array) lt_unmap(detour->array, (detour->count + 1) * sizeof *detour->array);
  *detour = (struct detour){0};
}

static initializer *lt_initializer_reached(uintptr_t place) __attribute__((used));
static initializer *lt_initializer_reached(uintptr_t place) {
  int number = (int)((place - (uintptr_t)lt_initializer_entries) / LT_INITIALIZER_ENTRY_SIZE);
  struct detour *detour = &detours[number];
  LT_CHECK(number >= 0 && number < LT_DETOUR_LIMIT && detour->isUsed && detour->isNext);
  if (detour->array) memcpy(detour->array + 1, detour->imageArray, detour->count * sizeof *detour->array);
  initializer *original = detour->original;
  detour->isNext();
  return original;
}
