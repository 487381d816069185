// A shared object that allocates when it is loaded, called and unloaded.
#include <stdlib.h>

static void *block;
__attribute__((constructor)) static void load(void) { block = malloc(501); }
__attribute__((destructor)) static void unload(void) { free(block); }

void *pluginAllocate(size_t size);
void *pluginAllocate(size_t size) { return malloc(size); }
