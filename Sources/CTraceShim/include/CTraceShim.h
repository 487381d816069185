// What tests of the recorder's parts may call. The preloaded library exports none of this.

#ifndef LEAKTRACE_SHIM_H
#define LEAKTRACE_SHIM_H

#include <stddef.h>
#include <stdint.h>

#endif
