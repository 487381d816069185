// Declares hooks. A hook has the name of the function that it interposes, visible to the loader.
//
// In a test program this code is linked, not preloaded. Hooks then have other names: the program's own calls do not
// reach them, and no recording begins by itself.

#ifndef LEAKTRACE_HOOK_H
#define LEAKTRACE_HOOK_H

#include "elf/next_symbol.h"

#include <stdatomic.h>

/// Code written in assembly may call with any stack pointer. The allocator accepts that, but the recorder's compiled
/// code stores to addresses that the ABI aligns. A hook with this attribute keeps its frame while it calls the
/// interposed function: use it only if that function calls no code of others.
#define LT_ALIGNS_STACK __attribute__((force_align_arg_pointer))

#ifdef LT_UNIT_TESTS
#define LT_HOOK(name) lt_hook_##name
#define LT_NAMED(name)
#define LT_EXPORT __attribute__((visibility("hidden")))
#else
#define LT_HOOK(name) name
/// Sets the symbol of a hook that has another name in C, because the compiler has built-in knowledge of the function.
#define LT_NAMED(name) __asm__(#name)
#define LT_EXPORT __attribute__((visibility("default")))
#endif

/// The next definition of a function, looked up when first needed.
#define NEXT(name)                                                     \
  ({                                                                   \
    static _Atomic(void *) found_;                                     \
    void *next_ = atomic_load_explicit(&found_, memory_order_relaxed); \
    if (!next_) {                                                      \
      next_ = lt_next_symbol(#name);                                   \
      atomic_store_explicit(&found_, next_, memory_order_relaxed);     \
    }                                                                  \
    (__typeof__(&name))next_;                                          \
  })

/// The frame address of the hook that uses it. The caller's frame is found from it.
#define LT_HOOK_FRAME ((const uintptr_t *)__builtin_frame_address(0))
/// The return address of the hook that uses it.
#define LT_CALLER ((const void *)__builtin_return_address(0))

#endif
