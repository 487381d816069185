// Steps from a frame to its caller. A step uses a cached rule, the full tables, or an async context.

#ifndef LEAKTRACE_UNWIND_STEP_H
#define LEAKTRACE_UNWIND_STEP_H

#include "CTraceFormat.h"
#include "check.h"
#include "os/os.h"
#include "thread/thread_state.h"
#include "unwind/unwind_table.h"

#include <stdatomic.h>

// --- cached rules ----------------------------------------------------------------------------------------------------

// Rules for the step out of a frame. A rule is derived from .eh_frame once for each code address, and fits into one
// word.

enum lt_rule_kind {
  LT_RULE_UNKNOWN = 0, ///< not in the cache
  LT_RULE_STEP = 1,    ///< the CFA is relative to the stack pointer or the frame pointer; the return address is right
                       ///< below the CFA
  LT_RULE_END = 2,     ///< the frame is the outermost one
  LT_RULE_FULL = 3,    ///< the step needs the full tables
  LT_RULE_RUNNER = 4,  ///< the frame is the concurrency runtime's, where it calls a task's code; otherwise like
                       ///< LT_RULE_STEP
  LT_RULE_NONE = 5,    ///< the frame has no unwind information
};

// Layout of a rule, in bits:
// - 0–2: the kind
// - 3: set if the CFA is found from the frame pointer
// - 4–15: slot of LT_REG_CONTEXT, in words below the CFA; 0 if none
// - 16–31: slot of LT_REG_FRAME, in bytes below the CFA; 0 if none
// - 32–62: the CFA's distance, in bytes
// - 63: LT_NEEDS_FRAME_POINTER in a stack's entry
/// The bits of the kind and of the CFA's register.
#define LT_RULE_HEAD_MASK 15u
static LT_ALWAYS_INLINE unsigned lt_rule_kind(uint64_t rule) { return rule & 7; }
static LT_ALWAYS_INLINE bool lt_rule_uses_frame_pointer(uint64_t rule) { return rule & 8; }
static LT_ALWAYS_INLINE uint64_t lt_rule_context_slot(uint64_t rule) { return (rule >> 4 & 0xfff) * 8; }
static LT_ALWAYS_INLINE uint64_t lt_rule_frame_pointer_slot(uint64_t rule) { return (uint16_t)(rule >> 16); }
static LT_ALWAYS_INLINE uint64_t lt_rule_offset(uint64_t rule) { return rule >> 32; }

/// True if the walk can follow the rule: the frame has a positive size, and its saved registers lie in it.
LT_INVARIANT bool lt_rule_is_valid(uint64_t rule) {
  unsigned kind = lt_rule_kind(rule);
  if (kind == LT_RULE_UNKNOWN || kind > LT_RULE_NONE) return false;
  if (kind != LT_RULE_STEP && kind != LT_RULE_RUNNER) return true;
  uint64_t slot = lt_rule_frame_pointer_slot(rule), distance = lt_rule_offset(rule & ~(1ull << 63));
  bool usesFramePointer = lt_rule_uses_frame_pointer(rule);
  return distance >= 8 && distance % 8 == 0 && slot % 8 == 0 && slot != 8 &&
         (usesFramePointer ? slot >= 16 : slot <= distance);
}

struct lt_cached_rule {
  // Both are relaxed: the check replaces the order.
  _Atomic uint64_t check; ///< lt_rule_tag ^ rule, so that a pair of words from two writes is recognised
  _Atomic uint64_t rule;  ///< satisfies lt_rule_is_valid if `check` fits
};
enum { LT_RULE_CACHE_BITS = 15 };
extern struct lt_cached_rule *lt_rule_cache __attribute__((visibility("hidden")));
/// Increased after images were loaded or unloaded, so that older rules are no longer found. Needs no order of its own:
/// the program orders the use of a new image's code after its loading.
extern _Atomic uint32_t lt_image_generation __attribute__((visibility("hidden")));

/// Each generation gives an address a different tag, because the multiplier is odd.
static LT_ALWAYS_INLINE uint64_t lt_rule_tag(uintptr_t address, uint32_t generation) {
  return address ^ generation * LT_HASH_MULTIPLIER;
}

LT_NOINLINE uint64_t lt_rule_make(uintptr_t address, struct lt_cached_rule *entry, uint64_t tag);

/// Returns the rule for a return address. Any thread may call this. Needs two loads if the rule is cached.
static LT_ALWAYS_INLINE uint64_t lt_rule_for(uintptr_t address, uint32_t generation) {
  LT_CHECK(lt_rule_cache != NULL);
  struct lt_cached_rule *entry = &lt_rule_cache[(address * LT_HASH_MULTIPLIER) >> (64 - LT_RULE_CACHE_BITS)];
  uint64_t tag = lt_rule_tag(address, generation);
  uint64_t rule = atomic_load_explicit(&entry->rule, memory_order_relaxed);
  if (LT_LIKELY((atomic_load_explicit(&entry->check, memory_order_relaxed) ^ rule) == tag)) return rule;
  return lt_rule_make(address, entry, tag);
}

/// Like lt_rule_for, but not inlined, for callers that do not need a rule at every event.
LT_NOINLINE uint64_t lt_rule_find(uintptr_t address, uint32_t generation);

/// Prepares the cache. Returns false if there is no memory.
bool lt_unwind_rules_init(void);

// --- readable memory -------------------------------------------------------------------------------------------------

// Keeps track of readable memory around a thread's stack pointer. The unwinder checks an address here before it reads
// there.

LT_NOINLINE bool lt_stack_memory_extend(struct lt_thread *thread, uintptr_t address);
LT_NOINLINE void lt_stack_memory_enter(struct lt_thread *thread, uintptr_t address);

/// True if the 16 bytes at the address can be read. Makes no system call for the known part of the thread's stack.
static LT_ALWAYS_INLINE bool lt_stack_memory_has(struct lt_thread *t, uintptr_t address) {
  return LT_LIKELY(address >= t->mappedLow && address + 16 <= t->mappedHigh) || lt_stack_memory_extend(t, address);
}

/// Finds the readable memory around the address of the innermost frame. Must be called before each walk, because the
/// thread may be on another stack than in the previous walk.
static LT_ALWAYS_INLINE void lt_stack_memory_begin(struct lt_thread *t, uintptr_t address) {
  if (LT_UNLIKELY(address - t->mappedLow >= t->mappedHigh - t->mappedLow)) lt_stack_memory_enter(t, address);
}

// --- async callers ---------------------------------------------------------------------------------------------------

// The suspended callers of the async function that a task is running. They are the task's logical stack, outside the
// physical one.

struct lt_async_change {
  bool isFound;  ///< true if a chain of callers was found; it is now in the thread's `async`
  uint32_t kept; ///< number of outermost entries in `async` that were there before
};

/// Updates the thread's `async`. `cfa` and `rule` belong to the outermost frame of the task's code, which the
/// concurrency runtime has called. `rule` is 0 if that frame is unknown. `registerValue` is the value of LT_REG_CONTEXT
/// in that frame.
struct lt_async_change lt_async_callers_update(struct lt_thread *thread, uintptr_t cfa, uint64_t rule,
                                               uint64_t registerValue);

/// Like lt_async_callers_update, for a context that is neither in the frame nor in LT_REG_CONTEXT. Uses the first
/// candidate that is a context.
struct lt_async_change lt_async_callers_search(struct lt_thread *thread, const uint64_t *candidates, uint32_t count);

/// True if the callers in the thread's `async` are unchanged in memory. They may change while the task still runs. A
/// task that has notified its awaiters gives up its context before its last function returns. A child task's context
/// lies in its parent's memory, where another thread may already write (Swift 6.3.1, AsyncTask::completeFuture).
bool lt_async_callers_are_unchanged(const struct lt_thread *t);

/// Returns the frame key of entry `i` of the thread's `async`.
static LT_ALWAYS_INLINE uint64_t lt_async_key(const struct lt_thread *t, uint32_t i) {
  LT_CHECK(i < t->asyncDepth && t->asyncDepth <= LT_ASYNC_LIMIT);
  return t->async[i].resume | LT_FRAME_EXACT | LT_FRAME_ASYNC;
}

// --- full unwind -----------------------------------------------------------------------------------------------------

// Unwinds whole stacks with the full unwind tables and with every register. This is slow. It serves frames that the
// short rules cannot express, and checks those rules.

struct lt_full_stack {
  uint64_t *keys;           ///< memory of the caller; the innermost key is first
  uint32_t count, capacity; ///< `count` is at most `capacity`
  bool isIncomplete;        ///< the stack ends at a frame without usable unwind information
  bool isTruncated;         ///< the stack ends at the capacity
};

/// Unwinds the stack, beginning with the caller of the hook whose frame is `hookFrame`. Writes frame keys to
/// `keys`, including those for async callers.
void lt_full_unwind(struct lt_thread *thread, struct lt_hook_frame hookFrame, struct lt_full_stack *stack);

/// Starts at the caller of the hook whose frame address is `hookFrame`. Finds the innermost frame whose address
/// `isPassed` rejects, and returns the registers as they are when that frame resumes. False if the stack cannot be
/// unwound that far.
bool lt_unwind_out_of(struct lt_thread *t, const uintptr_t *hookFrame, bool (*isPassed)(uintptr_t),
                      struct lt_registers *result);

/// Like lt_unwind_out_of, but starts at the innermost call made by `function`, whose code has `size` bytes. Searches
/// the stack for the return address of that call, because some frames inside it cannot be unwound. So the registers
/// that calls preserve are unknown, and are 0.
bool lt_unwind_from_call(struct lt_thread *t, uintptr_t function, size_t size, bool (*isPassed)(uintptr_t),
                         struct lt_registers *result);

#endif
