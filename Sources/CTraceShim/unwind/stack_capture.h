// The calling thread's whole stack, as a change of the one before. Never symbols.
//
// Consecutive stacks of a thread share most frames. The last stack is kept with the place of every return address; a
// new one is unwound from the top only until it meets a frame of the old one at the same place, and the rest is
// confirmed by comparing, in place, all that decides what a fresh unwind finds: each return address, and each saved
// frame pointer from which an outer frame is found. If all of it is as before, a fresh unwind would compute the same;
// so the result always equals one. Calls nothing that allocates or locks.
//
// The steps of every event are here, to be inlined; rarer ones are in stack_capture.c. record/recorded_stack.h puts the
// steps together.

#ifndef LEAKTRACE_STACK_CAPTURE_H
#define LEAKTRACE_STACK_CAPTURE_H

#include "check.h"
#include "unwind/stack_change.h"
#include "unwind/stack_memory.h"
#include "unwind/stack_room.h"
#include "unwind/unwind_rules.h"

struct lt_walk {
  /// of the last stack that hold, from the outermost; the return address of the innermost of them may be another
  uint32_t entries;
  uint32_t kept;  ///< of those, all that have their return address
  uint32_t fresh; ///< frames inside them, in the thread's scratch memory, innermost first
  uint32_t end;   ///< reason for the end, if it met no entry that holds: a rule kind; LT_RULE_STEP at the depth limit
};

/// Tells whether all that the frames outside of entry `index` depend on is as it was.
static LT_ALWAYS_INLINE bool lt_entries_hold(const struct lt_thread *t, uint32_t index) {
  const struct lt_frame_entry *entry = &t->entries[index];
  const struct lt_stack_pairs pairs = t->pairs;
  const struct lt_stack_words words = t->words;
  uint32_t pairEnd = entry->pairEnd, wordEnd = entry->wordEnd;
  LT_CHECK(index < t->depth && pairEnd <= t->entryLimit && wordEnd <= 2 * t->entryLimit);
  lt_two_words differences = {0, 0};
#pragma clang loop unroll_count(4)
  for (uint32_t i = 0; i < pairEnd; i++) differences |= *pairs.addresses[i] ^ pairs.values[i];
  uint64_t difference = differences[0] | differences[1];
#pragma clang loop unroll_count(4)
  for (uint32_t i = 0; i < wordEnd; i++) difference |= *words.addresses[i] ^ words.values[i];
  return LT_LIKELY(!difference);
}

/// Returns the innermost entry, at most `index`, outside of which all holds though it does not outside of `index`.
LT_NOINLINE uint32_t lt_changed_entry(const struct lt_thread *thread, uint32_t index);

/// Unwinds from the hook until a frame of the last stack that still holds, or to the end of the stack; at most `limit`
/// frames.
static LT_ALWAYS_INLINE struct lt_walk lt_walk_changed(struct lt_thread *t, const uintptr_t *hookFrame,
                                                       uint32_t limit) {
  struct lt_fresh_frame *fresh = t->fresh, *end = fresh + limit;
  const struct lt_frame_entry *entry = t->entries + t->depth - 1;
  LT_CHECK(lt_stack_room_is_valid(t) && limit <= t->entryLimit);
  // The hook's own frame: its caller's frame pointer and return address, side by side.
  uintptr_t returnSlot = (uintptr_t)(hookFrame + 1);
  uint64_t returnAddress = hookFrame[1], framePointer = hookFrame[0], rule;
  enum lt_rule_kind kind;
  for (;;) {
    while (entry->state.returnSlot < returnSlot) entry--;
    const struct lt_known_key *known = &t->dictionary[lt_key_index(returnAddress)];
    rule = LT_LIKELY(known->key == returnAddress && known->rule) ? known->rule
                                                                 : lt_rule_find(returnAddress, t->imageGeneration);
    // The frame of an activation that was on the last stack, perhaps at another call now: from here on the last stack
    // would be unwound alike, if all that it depends on still holds.
    if (entry->state.returnSlot == returnSlot && rule == (entry->rule & ~LT_NEEDS_FRAME_POINTER) &&
        (!(entry->rule & LT_NEEDS_FRAME_POINTER) || entry->state.framePointer == framePointer)) {
      uint32_t index = (uint32_t)(entry - t->entries);
      LT_CHECK(index < t->depth);
      if (LT_LIKELY(lt_entries_hold(t, index))) {
        bool isSameCall = t->addresses[index] == returnAddress;
        t->addresses[index] = returnAddress;
        return (struct lt_walk){index + 1, index + isSameCall, (uint32_t)(fresh - t->fresh), LT_RULE_STEP};
      }
      entry = t->entries + (ptrdiff_t)lt_changed_entry(t, index) - 2;
      LT_CHECK(entry >= t->entries - 1);
    }
    kind = LT_RULE_STEP;
    if (LT_UNLIKELY(fresh >= end)) break;
    *fresh++ = (struct lt_fresh_frame){{returnSlot, framePointer}, rule, returnAddress};
    LT_CHECK(lt_rule_is_valid(rule));
    uint64_t slot = lt_rule_frame_pointer_slot(rule);
    uintptr_t cfa = lt_rule_offset(rule);
    if ((rule & LT_RULE_HEAD_MASK) == LT_RULE_STEP) {
      cfa += returnSlot + 8;
      LT_CHECK(cfa > returnSlot + 8);
    } else {
      kind = lt_rule_kind(rule);
      if (LT_UNLIKELY(kind != LT_RULE_STEP)) break;
      cfa += framePointer;
      // A frame lies outside of its callee's, and what it saved lies in it.
      kind = LT_RULE_FULL;
      if (LT_UNLIKELY(cfa - slot <= returnSlot || cfa % 8)) break;
    }
    // Higher than the memory known to be readable: only its end has to be asked for.
    kind = LT_RULE_NONE;
    if (LT_UNLIKELY(cfa > t->mappedHigh) && !lt_stack_memory_has(t, cfa - 16)) break;
    if (slot) framePointer = *(const uint64_t *)(cfa - slot);
    returnSlot = cfa - 8;
    returnAddress = *(const uint64_t *)returnSlot;
    kind = LT_RULE_END;
    if (LT_UNLIKELY(!returnAddress)) break;
  }
  return (struct lt_walk){.fresh = (uint32_t)(fresh - t->fresh), .end = kind};
}

/// Makes the fresh frames the inner end of the last stack, after its outermost `entries`, of which there are some.
static LT_ALWAYS_INLINE void lt_keep_fresh(struct lt_thread *t, uint32_t entries, uint32_t count) {
  struct lt_frame_entry *entry = t->entries + entries;
  LT_CHECK(entries > 0 && entries + count <= t->entryLimit);
  uint64_t *address = t->addresses + entries;
  const struct lt_stack_pairs pairs = t->pairs;
  const struct lt_stack_words words = t->words;
  uint32_t word = entry[-1].wordEnd, pair = entry[-1].pairEnd;
  for (const struct lt_fresh_frame *first = t->fresh, *from = first + count; from > first; entry++, address++) {
    from--;
    LT_CHECK(from->state.returnSlot < entry[-1].state.returnSlot);
    // The words that the step from this frame to the one outside of it read.
    const uint64_t *returnSlot = (const uint64_t *)entry[-1].state.returnSlot;
    uint64_t rule = from->rule, slot = lt_rule_frame_pointer_slot(rule),
             needed = entry[-1].rule & LT_NEEDS_FRAME_POINTER;
    if (slot && needed) {
      needed = 0;
      if (LT_LIKELY(slot == 16)) {
        pairs.addresses[pair] = (const lt_two_words_anywhere *)(returnSlot - 1);
        pairs.values[pair++] = (lt_two_words){entry[-1].state.framePointer, address[-1]};
        goto added;
      }
      words.addresses[word] = (const uint64_t *)((uintptr_t)returnSlot + 8 - slot);
      words.values[word++] = entry[-1].state.framePointer;
    }
    words.addresses[word] = returnSlot;
    words.values[word++] = address[-1];
  added:
    needed |= (rule & 8) << 60;
    *entry = (struct lt_frame_entry){from->state, rule | needed, word, pair};
    *address = from->returnAddress;
    LT_CHECK(word <= 2 * t->entryLimit && pair <= t->entryLimit);
  }
}
_Static_assert(8ull << 60 == LT_NEEDS_FRAME_POINTER, "a rule's mark of a CFA found from the frame pointer, moved");

uint32_t lt_stack_depth_limit(void);

/// Finishes a capture whose walk lt_keep_fresh is not enough for: the end of the stack was reached, it ends in a task,
/// or many frames are new.
void lt_capture_finish(struct lt_thread *thread, const uintptr_t *hookFrame, struct lt_walk walk,
                       struct lt_stack_change *change);

/// The slow path of a capture, after a first walk with the usual limit.
static LT_ALWAYS_INLINE void lt_capture_slowly(struct lt_thread *t, const uintptr_t *hookFrame, struct lt_walk walk,
                                               struct lt_stack_change *change) {
  // More frames were new than an event has room for: that walk did not find out how many.
  if (walk.entries == 0 && walk.end == LT_RULE_STEP) walk = lt_walk_changed(t, hookFrame, t->entryLimit);
  while (((walk.entries == 0 && walk.end == LT_RULE_STEP) || walk.entries + walk.fresh > t->entryLimit) &&
         lt_stack_room_grow(t, lt_stack_depth_limit()))
    walk = lt_walk_changed(t, hookFrame, t->entryLimit);
  lt_capture_finish(t, hookFrame, walk, change);
}

/// Does the same once more, after the recorded stack has been forgotten: a new payload begins with an empty stack.
static LT_ALWAYS_INLINE void lt_capture_again(struct lt_thread *t, const uintptr_t *hookFrame,
                                              struct lt_stack_change *change) {
  lt_capture_finish(t, hookFrame, lt_walk_changed(t, hookFrame, t->entryLimit), change);
}

/// True if each capture is to be verified: every one takes the slow path then.
extern bool lt_verifies_stacks __attribute__((visibility("hidden")));
/// Compares the last capture with a full unwind.
LT_NOINLINE void lt_capture_verify(struct lt_thread *thread, const uintptr_t *hookFrame);

/// Makes every thread unwind afresh at its next event: an image has gone.
void lt_stack_capture_invalidate(void);
/// Has the calling thread do so, if an image has gone since it did.
void lt_stack_capture_renew(struct lt_thread *thread);
/// Prepares; once. False without memory. `limit`: frames recorded at most. `verifies`: compare each stack with a fresh
/// full unwind.
bool lt_stack_capture_init(uint32_t limit, bool verifies);

#endif
