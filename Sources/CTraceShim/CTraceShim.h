// The functions that tests of the recorder's parts may call. The preloaded library exports none of them.

#ifndef LEAKTRACE_SHIM_H
#define LEAKTRACE_SHIM_H

#include "arch/arch.h"
#include "image/exact_words.h"
#include "image/memory_map.h"
#include "image/memory_scan.h"
#include "image/page_encoder.h"
#include "process/environment.h"
#include "process/filter_program.h"
#include "record/chunk_compressor.h"
#include "swift/case_words.h"
#include "swift/type_name.h"
#include "unwind/unwind_table.h"

#endif
