#define _GNU_SOURCE
#include "elf/next_symbol.h"

#include "arch/arch.h"
#include "elf/loaded_image.h"

#include <dlfcn.h>

/// dlsym by its first version: a reference to the one of today's headers keeps older glibc from loading this library.
/// NULL where no image has one.
extern void *lt_first_dlsym(void *handle, const char *name) __attribute__((weak));
__asm__(".symver lt_first_dlsym, dlsym@" LT_FIRST_GLIBC);

struct search {
  const char *name;
  uintptr_t before, after; ///< the first definitions in images before and after this library; 0 if there is none
  bool isBehind;           ///< this library has been met
};

static int visit(struct dl_phdr_info *info, size_t size, void *context) {
  (void)size;
  struct search *search = context;
  struct lt_loaded_image image;
  struct lt_symbol symbol;
  if (!lt_loaded_image_from_info(info, &image)) return 0;
  if (lt_loaded_image_covers(&image, (uintptr_t)&visit)) {
    search->isBehind = true;
    return 0;
  }
  uintptr_t *found = search->isBehind ? &search->after : &search->before;
  if (!*found && lt_loaded_image_symbol(&image, search->name, &symbol)) *found = symbol.address;
  return search->after != 0;
}

void *lt_next_symbol(const char *name) {
  // The loader knows this library by the return address, so this call must not be the last thing done here.
  void *next = lt_first_dlsym ? lt_first_dlsym(RTLD_NEXT, name) : NULL;
  if (next) return next;
  struct search search = {.name = name};
  dl_iterate_phdr(visit, &search);
  return (void *)(search.after ? search.after : search.before);
}

bool lt_symbol_is_first_here(const char *name) {
  struct search search = {.name = name};
  dl_iterate_phdr(visit, &search);
  return !search.before;
}

struct pair {
  uintptr_t one, other;
};

static int has_both(struct dl_phdr_info *info, size_t size, void *context) {
  (void)size;
  const struct pair *pair = context;
  struct lt_loaded_image image;
  return lt_loaded_image_from_info(info, &image) && lt_loaded_image_covers(&image, pair->one) &&
         lt_loaded_image_covers(&image, pair->other);
}

bool lt_are_in_one_image(uintptr_t one, uintptr_t other) {
  struct pair pair = {one, other};
  return dl_iterate_phdr(has_both, &pair) != 0;
}
