// Addresses of the traced process, and the flags that share a word with them.

#ifndef LEAKTRACE_TRACE_ADDRESSES_H
#define LEAKTRACE_TRACE_ADDRESSES_H

// The masks are plain numbers, since Swift does not import longer expressions.

/// A frame key is a run-time address with these flags. On every supported machine, addresses fit into the bits below.
#define LT_FRAME_EXACT (1ull << 62) ///< the instruction's own address; without this flag, a return address
#define LT_FRAME_ASYNC (1ull << 63) ///< the address where an async caller resumes; always exact
#define LT_FRAME_ADDRESS_MASK 0x01FFFFFFFFFFFFFFull

/// Masks the address in a word of memory. Swift keeps other parts of a reference in the top byte.
#define LT_WORD_ADDRESS_MASK 0x00FFFFFFFFFFFFFFull

#endif
