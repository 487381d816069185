// Declares the functions that tests of the recorder's parts may call. The preloaded library exports none of them.

#ifndef LEAKTRACE_SHIM_H
#define LEAKTRACE_SHIM_H

#include "arch/arch.h"
#include "filter_program.h"
#include "image/memory_map.h"
#include "process/environment.h"
#include "record/chunk_compressor.h"
#include "sampling/live_blocks.h"
#include "swift/swift_runtime.h"
#include "unwind/unwind_table.h"

#endif
