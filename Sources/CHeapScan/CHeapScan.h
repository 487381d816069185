// Reads Swift metadata from memory that is not trusted, and selects the words that belong in a heap image. The memory
// may belong to the recorder's own process or to another process. Calls only memory primitives.

#ifndef LEAKTRACE_HEAP_SCAN_H
#define LEAKTRACE_HEAP_SCAN_H

#include "address_index.h"
#include "allocator_metadata/allocator_figures.h"
#include "allocator_metadata/glibc_heap.h"
#include "allocator_metadata/jemalloc_heap.h"
#include "allocator_metadata/mimalloc_heap.h"
#include "allocator_metadata/tcmalloc_heap.h"
#include "enum_tags.h"
#include "memory_scan.h"
#include "metadata_copy.h"
#include "metadata_layout.h"
#include "metadata_reading.h"
#include "object_layout.h"
#include "object_types.h"
#include "object_words.h"
#include "page_encoder.h"
#include "scanned_memory.h"
#include "type_description.h"
#include "type_name.h"
#include "type_set.h"
#include "verbatim_words.h"

#endif
