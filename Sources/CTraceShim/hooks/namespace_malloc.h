// The malloc family in a namespace of the loader's that is not the program's: with a C library of its own, whose calls
// do not pass the preloaded hooks.

#ifndef LEAKTRACE_NAMESPACE_MALLOC_H
#define LEAKTRACE_NAMESPACE_MALLOC_H

#include "elf/loaded_image.h"

/// Namespaces that can be hooked at a time. Each has a set of hooks in the code.
enum { LT_NAMESPACE_LIMIT = 8 };

/// Finds the functions that the hooks of a namespace stand in front of: the first that its images define, in their
/// order. False if one is missing.
bool lt_namespace_malloc_find(unsigned number, const struct lt_loaded_image *images, uint32_t count);
/// Binds an image's references to the malloc family to the hooks of its namespace. The image must be relocated.
void lt_namespace_malloc_bind(unsigned number, const struct lt_loaded_image *image);

#endif
