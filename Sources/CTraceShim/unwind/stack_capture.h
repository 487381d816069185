// Captures a thread's stack as a change to the previous one, and allocates the record of that stack.

#ifndef LEAKTRACE_STACK_CAPTURE_H
#define LEAKTRACE_STACK_CAPTURE_H

#include "check.h"
#include "thread/thread_state.h"
#include "unwind/unwind_step.h"

#include <stdint.h>

// --- change ----------------------------------------------------------------------------------------------------------

// The difference between a stack and the one recorded before it.

/// The most frames that one event pushes; a control record before the event pushes any others.
enum { LT_EVENT_PUSH_LIMIT = 48 };

struct lt_stack_change {
  uint32_t pops, pushes;
  const uint64_t *keys;     ///< pushed keys, the outermost first
  uint64_t innermost, next; ///< the two innermost keys of the stack
};

// --- room ------------------------------------------------------------------------------------------------------------

// Memory for the record of a thread's last stack. It grows when a stack is deeper than all before. Most threads need
// room for a few hundred frames.

/// True if the thread has room, and its last stack fits into the room.
LT_INVARIANT bool lt_stack_room_is_valid(const struct lt_thread *t) {
  const uint8_t *entries = (const uint8_t *)t->entries;
  return t->room && entries > t->room && entries < t->room + t->roomSize && t->entryLimit > 0 &&
         t->freshLimit <= t->entryLimit && t->depth <= t->entryLimit && t->asyncDepth <= LT_ASYNC_LIMIT &&
         t->entries[-1].state.stackPointer == UINTPTR_MAX;
}

/// Gives a thread room for its first stacks, of at most `limit` frames. Returns false if there is no memory; then
/// nothing was allocated.
bool lt_stack_room_make(struct lt_thread *thread, uint32_t limit);
/// Gives a thread more room, up to `limit` frames, and forgets its last stack. Returns false, without a change, if the
/// limit is reached or there is no memory. After a failure, later calls fail without a request for memory.
bool lt_stack_room_grow(struct lt_thread *thread, uint32_t limit);

// --- capture ---------------------------------------------------------------------------------------------------------

// Captures the calling thread's whole stack, as a change to the previous one. Needs no symbols.
//
// Consecutive stacks of a thread share most frames. The recorder keeps the last stack, with the slot of every return
// address. It unwinds a new stack from the innermost frame, until it reaches a frame of the last stack in the same
// slot. It confirms the outer frames in place: it compares all words that decide the result of a fresh unwind. These
// are each return address, and each saved frame pointer that an outer frame is found from. If none of these words has
// changed, a fresh unwind would compute the same frames. So the captured stack always equals a fresh unwind. Calls
// nothing that allocates or locks.
//
// The steps that every event needs are in this header, so that they can be inlined. Rarer steps are in stack_capture.c.
// record/event_recorder.h combines the steps.

struct lt_walk {
  /// number of the last stack's entries, from the outermost, that are still valid. Only the innermost one's return
  /// address may have changed
  uint32_t entries;
  uint32_t kept;  ///< number of these entries whose return address is unchanged
  uint32_t fresh; ///< number of new frames inside these entries; they are in the thread's scratch memory, innermost
                  ///< first
  uint32_t end;   ///< why a walk ended without a valid entry: a rule kind, or LT_RULE_STEP at the depth limit
};

/// True if all words that the frames outside entry `index` depend on are unchanged.
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

/// Returns the innermost entry, at most `index`, whose step to the next outer frame read a word that has changed. Call
/// this only if lt_entries_hold is false for `index`.
LT_NOINLINE uint32_t lt_changed_entry(const struct lt_thread *thread, uint32_t index);

/// Unwinds from the hook to the first frame of the last stack that is still valid, or to the end of the stack. Unwinds
/// at most `limit` frames.
static LT_ALWAYS_INLINE struct lt_walk lt_walk_changed(struct lt_thread *t, struct lt_hook_frame hookFrame,
                                                       uint32_t limit) {
  struct lt_fresh_frame *fresh = t->fresh, *end = fresh + limit;
  const struct lt_frame_entry *entry = t->entries + t->depth - 1;
  LT_CHECK(lt_stack_room_is_valid(t) && limit <= t->entryLimit);
  // The first two words of the hook's frame are its caller's frame pointer and the return address.
  uintptr_t stackPointer = lt_stack_pointer_outside(hookFrame);
  uint64_t returnAddress = lt_code_address(hookFrame.record[1]), framePointer = hookFrame.record[0], rule;
  enum lt_rule_kind kind;
  for (;;) {
    while (entry->state.stackPointer < stackPointer) entry--;
    const struct lt_known_key *known = &t->dictionary[lt_key_index(returnAddress)];
    rule = LT_LIKELY(known->key == returnAddress && known->rule) ? known->rule
                                                                 : lt_rule_find(returnAddress, t->imageGeneration);
    // This function activation was also on the last stack, but may be at another call now. If no word has changed that
    // the last stack's outer frames depend on, a fresh unwind would find the same outer frames.
    if (entry->state.stackPointer == stackPointer && rule == (entry->rule & ~LT_NEEDS_FRAME_POINTER) &&
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
    *fresh++ = (struct lt_fresh_frame){{stackPointer, framePointer}, rule, returnAddress};
    LT_CHECK(lt_rule_is_valid(rule));
    uint64_t slot = lt_rule_frame_pointer_slot(rule);
    uintptr_t cfa = lt_rule_offset(rule);
    if ((rule & LT_RULE_HEAD_MASK) == LT_RULE_STEP) {
      cfa += stackPointer;
      LT_CHECK(cfa > stackPointer);
    } else {
      kind = lt_rule_kind(rule);
      if (LT_UNLIKELY(kind != LT_RULE_STEP)) break;
      cfa += framePointer;
      // A frame lies at higher addresses than its callee's frame, and its saved registers lie in the frame.
      kind = LT_RULE_FULL;
      if (LT_UNLIKELY(cfa - slot < stackPointer || cfa % 8)) break;
    }
    // The CFA is above the innermost frame, so it is not below the memory known to be readable. Only the upper end of
    // that memory must be checked.
    kind = LT_RULE_NONE;
    if (LT_UNLIKELY(cfa > t->mappedHigh) && !lt_stack_memory_has(t, cfa - 16)) break;
    if (slot) framePointer = *(const uint64_t *)(cfa - slot);
    stackPointer = cfa;
    returnAddress = lt_code_address(*(const uint64_t *)(cfa - lt_return_slot(slot)));
    kind = LT_RULE_END;
    if (LT_UNLIKELY(!returnAddress)) break;
  }
  return (struct lt_walk){.fresh = (uint32_t)(fresh - t->fresh), .end = kind};
}

/// Appends the fresh frames to the last stack, after its outermost `entries` frames. `entries` is at least one.
static LT_ALWAYS_INLINE void lt_keep_fresh(struct lt_thread *t, uint32_t entries, uint32_t count) {
  struct lt_frame_entry *entry = t->entries + entries;
  LT_CHECK(entries > 0 && entries + count <= t->entryLimit);
  uint64_t *address = t->addresses + entries;
  const struct lt_stack_pairs pairs = t->pairs;
  const struct lt_stack_words words = t->words;
  uint32_t word = entry[-1].wordEnd, pair = entry[-1].pairEnd;
  for (const struct lt_fresh_frame *first = t->fresh, *from = first + count; from > first; entry++, address++) {
    from--;
    LT_CHECK(from->state.stackPointer < entry[-1].state.stackPointer);
    // Note the words that were read by the step from this frame to the next outer frame.
    uintptr_t cfa = entry[-1].state.stackPointer;
    uint64_t rule = from->rule, slot = lt_rule_frame_pointer_slot(rule),
             needed = entry[-1].rule & LT_NEEDS_FRAME_POINTER;
    const uint64_t *returnSlot = (const uint64_t *)(cfa - lt_return_slot(slot));
    uint64_t returnWord = lt_return_word(returnSlot, address[-1]);
    if (slot && needed) {
      needed = 0;
      if (LT_LIKELY(slot == lt_return_slot(slot) + 8)) {
        pairs.addresses[pair] = (const lt_two_words_anywhere *)(returnSlot - 1);
        pairs.values[pair++] = (lt_two_words){entry[-1].state.framePointer, returnWord};
        goto added;
      }
      words.addresses[word] = (const uint64_t *)(cfa - slot);
      words.values[word++] = entry[-1].state.framePointer;
    }
    words.addresses[word] = returnSlot;
    words.values[word++] = returnWord;
  added:
    needed |= (rule & 8) << 60;
    *entry = (struct lt_frame_entry){from->state, rule | needed, word, pair};
    *address = from->returnAddress;
    LT_CHECK(word <= 2 * t->entryLimit && pair <= t->entryLimit);
  }
}
_Static_assert(8ull << 60 == LT_NEEDS_FRAME_POINTER, "a rule's mark of a CFA found from the frame pointer, moved");

uint32_t lt_stack_depth_limit(void);

/// Finishes a capture if lt_keep_fresh is not enough. This happens if the walk reached the end of the stack, if the
/// stack ends in a task, or if many frames are new.
void lt_capture_finish(struct lt_thread *thread, struct lt_hook_frame hookFrame, struct lt_walk walk,
                       struct lt_stack_change *change);

/// Continues a capture after a first walk with the usual limit of frames.
static LT_ALWAYS_INLINE void lt_capture_slowly(struct lt_thread *t, struct lt_hook_frame hookFrame, struct lt_walk walk,
                                               struct lt_stack_change *change) {
  // The stack has more new frames than an event has room for. So the first walk stopped before it counted them all.
  if (walk.entries == 0 && walk.end == LT_RULE_STEP) walk = lt_walk_changed(t, hookFrame, t->entryLimit);
  while (((walk.entries == 0 && walk.end == LT_RULE_STEP) || walk.entries + walk.fresh > t->entryLimit) &&
         lt_stack_room_grow(t, lt_stack_depth_limit()))
    walk = lt_walk_changed(t, hookFrame, t->entryLimit);
  lt_capture_finish(t, hookFrame, walk, change);
}

/// Captures the stack again after the recorded stack was forgotten, because a new payload begins with an empty stack.
static LT_ALWAYS_INLINE void lt_capture_again(struct lt_thread *t, struct lt_hook_frame hookFrame,
                                              struct lt_stack_change *change) {
  lt_capture_finish(t, hookFrame, lt_walk_changed(t, hookFrame, t->entryLimit), change);
}

/// True if each capture must be verified. Each capture then takes the slow path.
extern bool lt_verifies_stacks __attribute__((visibility("hidden")));
/// Compares the last capture with a full unwind, and counts a mismatch.
LT_NOINLINE void lt_capture_verify(struct lt_thread *thread, struct lt_hook_frame hookFrame);

/// Makes every thread unwind its whole stack at its next event, because an image was unloaded.
void lt_stack_capture_invalidate(void);
/// Forgets the calling thread's last stack if an image was unloaded since the previous call.
void lt_stack_capture_renew(struct lt_thread *thread);
/// Prepares captures. Called once. Returns false if there is no memory. `limit` is the most frames to record. If
/// `verifies` is true, each stack is compared with a fresh full unwind.
bool lt_stack_capture_init(uint32_t limit, bool verifies);

#endif
