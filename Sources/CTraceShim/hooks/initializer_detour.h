// Has a function called before the first initialiser of an image that is being loaded.

#ifndef LEAKTRACE_INITIALIZER_DETOUR_H
#define LEAKTRACE_INITIALIZER_DETOUR_H

#include "elf/loaded_image.h"

enum { LT_DETOUR_LIMIT = 64 };

/// Has `isNext` called when the image is relocated, before any of its own code runs: by the thread that is about to
/// initialise it, with the loader's lock held. The image must not be relocated yet. Returns a number below the limit
/// that is the image's until its first initialiser has run or it is forgotten; −1 if that cannot be done.
int lt_initializer_detour(const struct lt_loaded_image *image, void (*isNext)(void));
/// Forgets an image that has gone without having been initialised, or long after.
void lt_initializer_forget(int number);

#endif
