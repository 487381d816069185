// What tests of the recorder's parts may call. The preloaded library exports none of this.

#ifndef LEAKTRACE_SHIM_H
#define LEAKTRACE_SHIM_H

#include "../case_words.h"
#include "../chunk_compressor.h"
#include "../environment.h"
#include "../exact_words.h"
#include "../filter_program.h"
#include "../memory_map.h"
#include "../memory_scan.h"
#include "../page_encoder.h"
#include "../prologue.h"
#include "../unwind_table.h"

#include <stddef.h>
#include <stdint.h>

/// As type_table.h says.
size_t lt_type_name(uint64_t metadata, char *buffer, size_t size);

#endif
