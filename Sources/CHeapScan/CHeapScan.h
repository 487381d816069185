// Reads Swift metadata from memory that is not trusted, and selects the words that belong in a heap image. The memory
// may belong to the recorder's own process or to another process. Calls only memory primitives.

#ifndef LEAKTRACE_HEAP_SCAN_H
#define LEAKTRACE_HEAP_SCAN_H

#include "address_index.h"
#include "allocator_books/allocator_figures.h"
#include "allocator_books/glibc_heap.h"
#include "allocator_books/jemalloc_heap.h"
#include "allocator_books/mimalloc_heap.h"
#include "allocator_books/tcmalloc_heap.h"
#include "case_words.h"
#include "exact_words.h"
#include "memory_scan.h"
#include "metadata_copy.h"
#include "metadata_reading.h"
#include "object_types.h"
#include "object_words.h"
#include "page_encoder.h"
#include "scanned_memory.h"
#include "type_description.h"
#include "type_name.h"
#include "type_set.h"

#endif
