// Makes objects of the library that it is linked into before anything else of that library has run.
#include <stdint.h>

int32_t pluginMake(int32_t count);

static int32_t made;
__attribute__((constructor(101))) static void make(void) { made = pluginMake(7); }

int32_t pluginMadeEarly(void);
int32_t pluginMadeEarly(void) { return made; }
