// Hints to the processor's cache, which Swift has no words for.

#ifndef LT_PREFETCH_H
#define LT_PREFETCH_H

/// Begins to load the cache line of an address, which will be written soon. Never faults, even if nothing is mapped at
/// the address. Does not wait for the memory.
static inline void lt_prefetch(const void *_Nonnull address) { __builtin_prefetch(address, 1, 3); }

#endif
