// Addresses of the traced process, and the flags that stand with them in one word.

#ifndef LEAKTRACE_TRACE_ADDRESSES_H
#define LEAKTRACE_TRACE_ADDRESSES_H

/// A frame key is a run-time address with these flags. Addresses fit below them on every supported machine.
#define LT_FRAME_EXACT (1ull << 62) ///< the address itself was executing or will be; without it, it is a return address
#define LT_FRAME_ASYNC (1ull << 63) ///< a logical caller: the address at which it resumes; always exact
#define LT_FRAME_ADDRESS_MASK ((1ull << 57) - 1)

/// The address in a word of memory, without the top byte, in which Swift keeps other parts of a reference.
#define LT_WORD_ADDRESS_MASK 0x00FFFFFFFFFFFFFFull

#endif
