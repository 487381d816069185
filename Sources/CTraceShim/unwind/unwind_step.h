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

// Rules for stepping out of a frame, worked out from .eh_frame once per code address and kept in a word.

enum lt_rule_kind {
  LT_RULE_UNKNOWN = 0, ///< not in the cache
  LT_RULE_STEP = 1,    ///< CFA from the stack pointer or the frame pointer, return address below it
  LT_RULE_END = 2,     ///< outermost frame
  LT_RULE_FULL = 3,    ///< needs the full tables
  LT_RULE_RUNNER = 4,  ///< the concurrency runtime where it calls into a task's code; otherwise a step
  LT_RULE_NONE = 5,    ///< no unwind information
};

// Layout of a rule: kind 0–2, whether the CFA is found from the frame pointer 3, slot of LT_REG_CONTEXT 4–15 (words
// below the CFA, 0 none), slot of LT_REG_FRAME 16–31 (bytes below the CFA, 0 none), CFA's distance 32–62 (bytes). What
// an entry of a stack notes beside it is in bit 63.
/// The kind, and whether the CFA is found from the frame pointer.
#define LT_RULE_HEAD_MASK 15u
static LT_ALWAYS_INLINE unsigned lt_rule_kind(uint64_t rule) { return rule & 7; }
static LT_ALWAYS_INLINE bool lt_rule_uses_frame_pointer(uint64_t rule) { return rule & 8; }
static LT_ALWAYS_INLINE uint64_t lt_rule_context_slot(uint64_t rule) { return (rule >> 4 & 0xfff) * 8; }
static LT_ALWAYS_INLINE uint64_t lt_rule_frame_pointer_slot(uint64_t rule) { return (uint16_t)(rule >> 16); }
static LT_ALWAYS_INLINE uint64_t lt_rule_offset(uint64_t rule) { return rule >> 32; }

/// True of a rule that the walk can follow: the frame grows, and its saved registers lie in it.
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
  _Atomic uint64_t check; ///< lt_rule_tag ^ rule: a pair torn by another thread does not fit
  _Atomic uint64_t rule;  ///< lt_rule_is_valid, once `check` fits
};
enum { LT_RULE_CACHE_BITS = 15 };
extern struct lt_cached_rule *lt_rule_cache __attribute__((visibility("hidden")));
/// Changes when images come or go: older rules are not found any more.
extern _Atomic uint32_t lt_image_generation __attribute__((visibility("hidden")));

/// Differs for one address in every generation, however many there are: the multiplier is odd.
static LT_ALWAYS_INLINE uint64_t lt_rule_tag(uintptr_t address, uint32_t generation) {
  return address ^ generation * LT_HASH_MULTIPLIER;
}

LT_NOINLINE uint64_t lt_rule_make(uintptr_t address, struct lt_cached_rule *entry, uint64_t tag);

/// The rule for a return address. Any thread; two loads when it is cached.
static LT_ALWAYS_INLINE uint64_t lt_rule_for(uintptr_t address, uint32_t generation) {
  LT_CHECK(lt_rule_cache != NULL);
  struct lt_cached_rule *entry = &lt_rule_cache[(address * LT_HASH_MULTIPLIER) >> (64 - LT_RULE_CACHE_BITS)];
  uint64_t tag = lt_rule_tag(address, generation);
  uint64_t rule = atomic_load_explicit(&entry->rule, memory_order_relaxed);
  if (LT_LIKELY((atomic_load_explicit(&entry->check, memory_order_relaxed) ^ rule) == tag)) return rule;
  return lt_rule_make(address, entry, tag);
}

/// The same, for where it is not asked for at every event.
LT_NOINLINE uint64_t lt_rule_find(uintptr_t address, uint32_t generation);

/// Prepares the cache; false without memory.
bool lt_unwind_rules_init(void);

// --- readable memory -------------------------------------------------------------------------------------------------

// The memory around a thread's stack pointer that can be read. Asked before the unwinder reads anything that it is led
// to.

LT_NOINLINE bool lt_stack_memory_extend(struct lt_thread *thread, uintptr_t address);
LT_NOINLINE void lt_stack_memory_enter(struct lt_thread *thread, uintptr_t address);

/// Tells whether the 16 bytes at the address can be read. Nothing to compute inside the known part of the thread's
/// stack.
static LT_ALWAYS_INLINE bool lt_stack_memory_has(struct lt_thread *t, uintptr_t address) {
  return LT_LIKELY(address >= t->mappedLow && address + 16 <= t->mappedHigh) || lt_stack_memory_extend(t, address);
}

/// To be called with the address of the innermost frame before a walk: the thread may be on another stack than last
/// time.
static LT_ALWAYS_INLINE void lt_stack_memory_begin(struct lt_thread *t, uintptr_t address) {
  if (LT_UNLIKELY(address - t->mappedLow >= t->mappedHigh - t->mappedLow)) lt_stack_memory_enter(t, address);
}

// --- async callers ---------------------------------------------------------------------------------------------------

// The suspended callers of the async function that a task is running: its logical stack, below the physical one.

struct lt_async_change {
  bool isFound;  ///< there is a chain of callers, now in the thread's `async`
  uint32_t kept; ///< number of its outermost entries that were in it before
};

/// Updates the thread's `async`. `returnSlot`: the slot of the return address with which the outermost physical frame
/// of the task's code returns into the concurrency runtime. `hasFramePointer`: that frame is found by the frame
/// pointer. `registerValue`: the value of LT_REG_CONTEXT in that frame.
struct lt_async_change lt_async_callers_update(struct lt_thread *thread, uintptr_t returnSlot, bool hasFramePointer,
                                               uint64_t registerValue);

/// Does the same for a context that is in neither place: uses the first candidate that is a context.
struct lt_async_change lt_async_callers_search(struct lt_thread *thread, const uint64_t *candidates, uint32_t count);

/// True if the callers in the thread's `async` are unchanged in memory. A task that has notified its awaiters has given
/// up its context before its last function returns. A child's context is in its parent's memory, where another thread
/// may write by then (Swift 6.3.1, AsyncTask::completeFuture).
bool lt_async_callers_stand(const struct lt_thread *t);

/// The frame key of entry `i` of the thread's `async`.
static LT_ALWAYS_INLINE uint64_t lt_async_key(const struct lt_thread *t, uint32_t i) {
  LT_CHECK(i < t->asyncDepth && t->asyncDepth <= LT_ASYNC_LIMIT);
  return t->async[i].resume | LT_FRAME_EXACT | LT_FRAME_ASYNC;
}

// --- full unwind -----------------------------------------------------------------------------------------------------

// Whole stacks by the full unwind tables, with every register: slow, for frames that the short rules cannot express,
// and to check those rules.

struct lt_full_stack {
  uint64_t *keys;           ///< innermost first; the caller's memory
  uint32_t count, capacity; ///< `count` is at most `capacity`
  bool isIncomplete;        ///< ends at a frame without usable unwind information
  bool isTruncated;         ///< ends at the capacity
};

/// Unwinds the stack from the caller of the hook with the frame address `hookFrame`. `keys` are frame keys, and include
/// async callers.
void lt_full_unwind(struct lt_thread *thread, const uintptr_t *hookFrame, struct lt_full_stack *stack);

/// Finds the registers of the innermost frame that is not `isPassed`, beginning with the caller of the hook that has
/// `hookFrame`: the values when that frame resumes. False if the stack cannot be unwound that far.
bool lt_unwind_out_of(struct lt_thread *t, const uintptr_t *hookFrame, bool (*isPassed)(uintptr_t),
                      struct lt_registers *result);

/// The same, beginning with the innermost call made by `function`, which has `size` bytes. That call is found by its
/// return address, since not all frames inside it can be unwound. Registers that calls preserve are unknown then, and
/// 0.
bool lt_unwind_from_call(struct lt_thread *t, uintptr_t function, size_t size, bool (*isPassed)(uintptr_t),
                         struct lt_registers *result);

#endif
