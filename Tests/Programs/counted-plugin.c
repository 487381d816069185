// A library that calls the allocator through tables of its own.

#include <stdlib.h>

void plugin_allocate(void) { free(aligned_alloc(64, 128)); }
