// Rules for stepping out of a frame, worked out from .eh_frame once per code address and kept in a word.

#ifndef LEAKTRACE_UNWIND_RULES_H
#define LEAKTRACE_UNWIND_RULES_H

#include "CTraceFormat.h"
#include "check.h"
#include "os/os.h"

#include <stdatomic.h>

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

#endif
