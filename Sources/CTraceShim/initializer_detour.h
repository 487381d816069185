// Being called before the first initialiser of an image that the loader is bringing in.

#ifndef LEAKTRACE_INITIALIZER_DETOUR_H
#define LEAKTRACE_INITIALIZER_DETOUR_H

#include "loaded_image.h"

enum { LT_DETOUR_LIMIT = 64 };

/// Has `lt_initializer_is_next` called when the image is relocated, before any of its own code runs. The image must not be relocated yet. Returns a number below
/// the limit that is the image's until its first initialiser has run or it is forgotten; −1 if that cannot be done.
int lt_initializer_detour(const struct lt_loaded_image *image);
/// The image has gone without having been initialised, or long after.
void lt_initializer_forget(int number);

/// The image of the number is relocated, and about to be initialised by this thread. The loader's lock is held.
void lt_initializer_is_next(int number);

#endif
