// Addresses of the traced process, and the flags that share a word with them.

#ifndef LEAKTRACE_TRACE_ADDRESSES_H
#define LEAKTRACE_TRACE_ADDRESSES_H

/// A frame key is a run-time address with these flags. Addresses fit below them on every supported machine.
#define LT_FRAME_EXACT (1ull << 62) ///< the address itself was executing or will be; without it, it is a return address
#define LT_FRAME_ASYNC (1ull << 63) ///< a logical caller, by its resume address; always exact
#define LT_FRAME_ADDRESS_MASK ((1ull << 57) - 1)

/// The address in a word of memory. Swift keeps other parts of a reference in the top byte, which is masked out.
#define LT_WORD_ADDRESS_MASK 0x00FFFFFFFFFFFFFFull

#endif
