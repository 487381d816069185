// Attributes and hints for the compiler.

#ifndef LEAKTRACE_COMPILER_H
#define LEAKTRACE_COMPILER_H

#define LT_LIKELY(x) __builtin_expect(!!(x), 1)
#define LT_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define LT_NOINLINE __attribute__((noinline))
#define LT_ALWAYS_INLINE inline __attribute__((always_inline))

/// Marks variables that hooks read at each call. They stand side by side, whichever file defines them, and so take few
/// cache lines.
#define LT_HOOK_DATA __attribute__((section("lt_hook_data")))

#endif
