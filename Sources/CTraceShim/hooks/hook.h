// Declares hooks, finds the functions that they interpose, and records their calls as events or samples.

#ifndef LEAKTRACE_HOOK_H
#define LEAKTRACE_HOOK_H

#include "elf/elf_image.h"
#include "image/expectations.h"
#include "process/thread_entry.h"
#include "record/event_recorder.h"
#include "sampling/live_blocks.h"
#include "thread/thread_state.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

// --- declaration -----------------------------------------------------------------------------------------------------

// Declares hooks. The hook of a function `f` is named lt_hook_f in the sources. The library exports it as `f`.
//
// Unit tests link this code instead of preloading it. In such a program, a hook's symbol is lt_hook_f, too, so the
// program's own calls do not reach the hooks. No recording begins by itself.

/// Aligns the stack in a hook. Assembly code may call a hook with a misaligned stack pointer. The allocator accepts
/// that, but the recorder's compiled code needs the alignment that the ABI demands. A hook with this attribute keeps
/// its own frame while it calls the interposed function. So use the attribute only if that function calls no code
/// outside of its library.
#if defined(__x86_64__)
#define LT_ALIGNS_STACK __attribute__((force_align_arg_pointer))
#else
#define LT_ALIGNS_STACK // the processor itself demands an aligned stack pointer
#endif

#ifdef LT_UNIT_TESTS
#define LT_EXPORT __attribute__((visibility("hidden")))
#else
#define LT_EXPORT __attribute__((visibility("default")))
#endif

/// Returns the next definition of a function. Looks it up at the first use. Relaxed: each thread that looks it up gets
/// the same address.
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

/// The frame of the hook that uses this macro. The frame of the hook's caller is found from it.
#define LT_HOOK_FRAME LT_OWN_FRAME
/// The return address of the hook that uses this macro.
#define LT_CALLER ((const void *)__builtin_return_address(0))

// --- next functions --------------------------------------------------------------------------------------------------

// The functions that the hooks interpose: for each name, the next definition in the loader's order.

/// One row for each hooked C function: result, name, parameters.
#define LT_HOOKED_MALLOC_FAMILY(X)                  \
  X(void *, malloc, (size_t))                       \
  X(void *, calloc, (size_t, size_t))               \
  X(void *, realloc, (void *, size_t))              \
  X(void *, reallocarray, (void *, size_t, size_t)) \
  X(void, free, (void *))                           \
  X(int, posix_memalign, (void **, size_t, size_t)) \
  X(void *, aligned_alloc, (size_t, size_t))        \
  X(void *, memalign, (size_t, size_t))             \
  X(void *, valloc, (size_t))                       \
  X(void *, pvalloc, (size_t))

struct lt_next_functions {
#define FIELD(result, name, parameters) result(*name) parameters;
  LT_HOOKED_MALLOC_FAMILY(FIELD)
#undef FIELD
};
extern struct lt_next_functions lt_next __attribute__((visibility("hidden")));

/// Finds the functions and stores them in `found`. While `lt_next` is empty, calls are served from the bootstrap arena.
void lt_next_functions_find(struct lt_next_functions *found);

// --- exported names --------------------------------------------------------------------------------------------------

// Gives each hook the symbol of the function that it interposes. exports.map lists the same names.

/// One row for each hooked C function outside of the malloc family. The hook calls the next function of that name.
#ifdef SYS_arch_prctl
#define LT_ARCH_PRCTL(X) X(arch_prctl)
#else
#define LT_ARCH_PRCTL(X)
#endif
#define LT_HOOKED_C_FUNCTIONS(X) \
  X(execve)                      \
  X(execvpe)                     \
  X(fexecve)                     \
  X(execv)                       \
  X(execvp)                      \
  X(execl)                       \
  X(execlp)                      \
  X(execle)                      \
  X(posix_spawn)                 \
  X(posix_spawnp)                \
  X(system)                      \
  X(popen)                       \
  X(fork)                        \
  X(prctl)                       \
  LT_ARCH_PRCTL(X)               \
  X(syscall)                     \
  X(pthread_create)              \
  X(dlclose)                     \
  X(exit)                        \
  X(_exit)                       \
  X(_Exit)                       \
  X(quick_exit)                  \
  X(__cxa_atexit)                \
  X(waitpid)                     \
  X(wait4)                       \
  X(waitid)                      \
  X(getrusage)                   \
  X(times)                       \
  X(chroot)                      \
  X(setuid)                      \
  X(seteuid)                     \
  X(setreuid)                    \
  X(setresuid)                   \
  X(setgid)                      \
  X(setegid)                     \
  X(setregid)                    \
  X(setresgid)                   \
  X(unshare)                     \
  X(setns)                       \
  X(sigaction)                   \
  X(__sigaction)                 \
  X(signal)                      \
  X(bsd_signal)                  \
  X(ssignal)                     \
  X(sysv_signal)                 \
  X(__sysv_signal)               \
  X(sigset)                      \
  X(signalfd)                    \
  X(read)

/// One row for each function of a Swift runtime that is hooked by name. The hook finds the runtime that a call is for.
#define LT_HOOKED_SWIFT_FUNCTIONS(X)     \
  X(swift_weakLoadStrong)                \
  X(swift_weakTakeStrong)                \
  X(swift_unownedRetainStrong)           \
  X(swift_unownedRetainStrongAndRelease) \
  X(swift_unownedRetain)                 \
  X(swift_unownedRelease)                \
  X(swift_nonatomic_retain)              \
  X(swift_nonatomic_retain_n)            \
  X(swift_nonatomic_release)             \
  X(swift_nonatomic_release_n)

#ifndef LT_UNIT_TESTS
#define PRAGMA(text) _Pragma(#text)
/// Sets the symbol of `lt_hook_name` to `name`. Must be expanded before the hook is declared.
#define SET_SYMBOL(name) PRAGMA(redefine_extname lt_hook_##name name)
#define SET_MALLOC_SYMBOL(result, name, parameters) SET_SYMBOL(name)
LT_HOOKED_MALLOC_FAMILY(SET_MALLOC_SYMBOL)
LT_HOOKED_C_FUNCTIONS(SET_SYMBOL)
LT_HOOKED_SWIFT_FUNCTIONS(SET_SYMBOL)
#undef SET_MALLOC_SYMBOL
#undef SET_SYMBOL
#undef PRAGMA
#endif

// --- Swift objects ---------------------------------------------------------------------------------------------------

// Records events of Swift objects, for hooks that are called with a reference.

/// One of the LT_ARC_ constants: whether and how retains and releases are recorded. Set before hooks are on. LT_ARC_OFF
/// while sampling. Read plainly: lt_order_threads and lt_hooks_set publish the first value.
extern uint8_t lt_arc_mode __attribute__((visibility("hidden")));

/// The address of the object that a reference points to. Clears the mark bits, which references to native strings,
/// bridged objects and the like may have.
#define OBJECT(reference) ((void *)((uint64_t)(reference)&LT_WORD_ADDRESS_MASK & ~7ull))

#define RECORD(operation, reference)                                                                          \
  do {                                                                                                        \
    struct lt_thread *t = lt_enter();                                                                         \
    if (t) {                                                                                                  \
      if (LT_LIKELY(lt_arc_mode == LT_ARC_STACKS)) lt_record(t, operation, OBJECT(reference), LT_HOOK_FRAME); \
      else if (lt_arc_mode == LT_ARC_COUNTS) lt_record_alone(t, operation, OBJECT(reference));                \
      lt_leave();                                                                                             \
    }                                                                                                         \
  } while (0)
#define RECORD_COUNT(operation, reference, count)                                                          \
  do {                                                                                                     \
    struct lt_thread *t = lt_enter();                                                                      \
    if (t) {                                                                                               \
      if (LT_LIKELY(lt_arc_mode == LT_ARC_STACKS))                                                         \
        lt_record_size(t, operation, OBJECT(reference), count, LT_HOOK_FRAME);                             \
      else if (lt_arc_mode == LT_ARC_COUNTS) lt_record_size_alone(t, operation, OBJECT(reference), count); \
      lt_leave();                                                                                          \
    }                                                                                                      \
  } while (0)
/// True if the runtime counts references to the object. The runtime does not count null, small strings and immortal
/// objects, which are all ≤ 0.
#define IS_COUNTED(object) ((intptr_t)(object) > 0)

// --- samples ---------------------------------------------------------------------------------------------------------

// Samples calls of the allocator. Hooks call these functions when a call may have to be sampled.

/// The average number of bytes from one sample to the next. If 0, all calls are recorded instead. Set before hooks are
/// on, and again if the trace reaches its limit. Read plainly: a hook that still reads 0 then writes an event after the
/// limit, which readers skip.
extern uint64_t lt_sample_period __attribute__((visibility("hidden")));

/// Counts an allocation's bytes. True if no sampling check is due within these bytes. Then the hook only needs to call
/// the allocator. Never true while all calls are recorded.
static LT_ALWAYS_INLINE bool lt_passes_samples(size_t size) {
  if (LT_LIKELY(lt_subtract(&lt_tls.untilSample, size))) return true;
  lt_tls.untilSample += size;
  return false;
}

/// Handles an allocation after lt_passes_samples has returned false. `frame`: the hook's frame address.
LT_NOINLINE void lt_light_allocated(void *block, size_t size, struct lt_hook_frame frame);
/// Handles the free of a marked block. Called before the block is freed.
LT_NOINLINE void lt_light_freed(void *block);

/// Undoes lt_light_freed for a block whose realloc has failed.
LT_NOINLINE void lt_light_restored(void *block, const struct lt_sampled_block *sample);

/// Prepares sampling. Called when the settings are known. False if there is no memory.
bool lt_light_begin(void);
/// Completes the switch to sampling in a child made by fork, if a thread of the parent was in the middle of the switch.
void lt_light_after_fork(void);
/// From now on, hooks pass unsampled calls directly to the allocator. Called when the next allocator is known.
void lt_light_open(void);

// --- allocations -----------------------------------------------------------------------------------------------------

// Records calls of the allocator.
//
// A free is recorded before it happens, and an allocation afterwards. Otherwise, another thread could get the freed
// address and record its allocation first.

static LT_ALWAYS_INLINE void record_free(struct lt_thread *t, unsigned operation, void *block,
                                         struct lt_hook_frame frame) {
  lt_record(t, operation, block, frame);
  lt_expectations_freed(block);
}

#define RECORD_FREE(block)                                \
  do {                                                    \
    if (lt_sample_period) {                               \
      if (lt_is_marked(block)) lt_light_freed(block);     \
    } else {                                              \
      struct lt_thread *t = lt_enter();                   \
      if (t) {                                            \
        record_free(t, LT_OP_FREE, block, LT_HOOK_FRAME); \
        lt_leave();                                       \
      }                                                   \
    }                                                     \
  } while (0)

/// True while the Swift runtime allocates an object. The hook of the runtime records that block, so the allocator's
/// hooks do not.
static LT_ALWAYS_INLINE bool is_inside_object_allocation(void) { return LT_UNLIKELY(lt_tls.isInsideObjectAllocation); }

// An image counts the registers of a running thread as roots. The block's address in a register that nothing uses would
// hide a leak for as long as the thread computes.
#define RECORD_ALLOCATION(operation, block, size)                                                  \
  do {                                                                                             \
    if (lt_sample_period) {                                                                        \
      if ((block) && !lt_passes_samples(size)) lt_light_allocated((block), (size), LT_HOOK_FRAME); \
    } else if ((block) && !is_inside_object_allocation()) {                                        \
      struct lt_thread *t = lt_enter();                                                            \
      if (t) {                                                                                     \
        lt_record_size(t, (operation), (block), (size), LT_HOOK_FRAME);                            \
        lt_leave();                                                                                \
        lt_forget_scratch();                                                                       \
      }                                                                                            \
    }                                                                                              \
  } while (0)

/// Calls realloc while sampling: handles the free of the old block and the allocation of the new one.
static LT_ALWAYS_INLINE void *sample_reallocation(void *(*next)(void *, size_t), void *block, size_t size,
                                                  struct lt_hook_frame frame) {
  // Save the old sample; a failed realloc leaves the block unchanged.
  struct lt_sampled_block before;
  bool isMarked = block && lt_is_marked(block),
       wasSampled = isMarked && lt_sampled_blocks_find((uintptr_t)block, &before);
  uint64_t keptSize = isMarked && lt_keeps_blocks ? lt_live_set_size((uintptr_t)block) : 0;
  if (isMarked) lt_light_freed(block);
  void *result = next(block, size);
  if (result) {
    if (!lt_passes_samples(size)) lt_light_allocated(result, size, frame);
  } else if (size > 0) {
    if (keptSize) lt_live_set_add((uintptr_t)block, keptSize);
    if (wasSampled) lt_light_restored(block, &before);
  }
  return result;
}

/// Calls and records a realloc, as a free and an allocation.
static LT_ALWAYS_INLINE void *reallocate(void *(*next)(void *, size_t), void *block, size_t size, unsigned operation,
                                         struct lt_hook_frame frame) {
  if (lt_sample_period) return sample_reallocation(next, block, size, frame);
  struct lt_thread *t = block ? lt_enter() : NULL;
  if (t) {
    record_free(t, LT_OP_REALLOC_FREE, block, frame);
    lt_leave();
  }
  void *result = next(block, size);
  if (result) {
    t = lt_enter();
    if (t) {
      lt_record_size(t, operation, result, size, frame);
      lt_leave();
    }
  } else if (block && size > 0) {
    t = lt_enter();
    if (t) {
      lt_record_size(t, LT_OP_REALLOC_FAILED, block, 0, frame);
      lt_leave();
    }
  }
  return result;
}

#endif
