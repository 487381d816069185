// The malloc family in a loader namespace other than the program's. It has a C library of its own, whose calls do not
// reach the preloaded hooks.

#ifndef LEAKTRACE_NAMESPACE_MALLOC_H
#define LEAKTRACE_NAMESPACE_MALLOC_H

#include "elf/loaded_image.h"

/// Namespaces that can be hooked at a time. Each has a set of hooks in the code.
enum { LT_NAMESPACE_LIMIT = 8 };

/// Finds the functions that the hooks of a namespace interpose: the first definitions among its images, in their order.
/// False if one is missing.
bool lt_namespace_malloc_find(unsigned number, const struct lt_loaded_image *images, uint32_t count);
/// Binds an image's references to the malloc family to the hooks of its namespace. The image must be relocated.
void lt_namespace_malloc_bind(unsigned number, const struct lt_loaded_image *image);

#endif
