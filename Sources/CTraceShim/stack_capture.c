// The calling thread's whole stack, as a change of the one before.
//
// Consecutive stacks of a thread share most frames. The last stack is kept with the address of every return address; a
// new one is unwound from the top only until it meets a frame of the old one at the same place, and the rest is
// confirmed by comparing, in place, all that a fresh unwind would read: each return address and each saved frame pointer.
// Where all of it is as before, a fresh unwind would compute the same; so the result always equals one.
// Calls nothing that allocates or locks.

#include "stack_capture.h"

#include "async_callers.h"
#include "full_unwind.h"
#include "stack_memory.h"
#include "unwind_rules.h"

#include <string.h>

static uint32_t depthLimit = 65536;
static bool verifiesStacks;

bool lt_stack_capture_init(uint32_t limit, bool verifies) {
  depthLimit = limit;
  verifiesStacks = verifies;
  return lt_unwind_rules_init();
}

uint32_t lt_stack_depth_limit(void) { return depthLimit; }
void lt_stack_capture_invalidate(void) { atomic_fetch_add(&lt_image_generation, 1); }

// --- what changed -----------------------------------------------------------------------------------------------------

/// Compares, in place, what entries [0, count) depend on. 0 if all hold, else one more than the index of the innermost that changed.
static LT_ALWAYS_INLINE uint32_t changed_entry(const struct lt_frame_entry *entries, uint32_t count) {
  uint64_t difference = 0;
  for (uint32_t i = 0; i < count; i++) {
    const struct lt_frame_entry *e = &entries[i];
    difference |= (*(const uint64_t *)e->returnSlot ^ e->returnAddress) | (*e->framePointerSlot ^ e->framePointer);
  }
  if (LT_LIKELY(!difference)) return 0;
  uint32_t i = count;
  while (i > 1 && *(const uint64_t *)entries[i - 1].returnSlot == entries[i - 1].returnAddress &&
         *entries[i - 1].framePointerSlot == entries[i - 1].framePointer)
    i--;
  return i;
}

struct walk {
  uint32_t kept;  ///< entries of the last stack that hold, from the outermost
  uint32_t fresh; ///< frames inside them, in the thread's scratch memory, innermost first
  uint32_t end;   ///< why the walk ended, if it met no entry that holds: a rule kind; LT_RULE_STEP at the depth limit
};

/// Unwinds from the hook until a frame of the last stack that still holds, or to the end of the stack.
static LT_ALWAYS_INLINE struct walk walk_changed(struct lt_thread *t, const uintptr_t *hookFrame) {
  struct lt_frame_entry *entries = t->entries, *fresh = t->fresh;
  uint32_t old = t->depth, count = 0, limit = t->entryLimit;
  // The hook's own frame: its caller's rbp and return address, side by side.
  struct lt_frame_entry e = {.returnSlot = (uintptr_t)(hookFrame + 1), .returnAddress = hookFrame[1],
                             .framePointerSlot = hookFrame, .framePointer = hookFrame[0]};
  for (;;) {
    while (old > 0 && entries[old - 1].returnSlot < e.returnSlot) old--;
    if (old > 0 && entries[old - 1].returnSlot == e.returnSlot && entries[old - 1].returnAddress == e.returnAddress &&
        entries[old - 1].framePointer == e.framePointer) {
      // From here on the last stack would be unwound alike, if what it depends on still stands.
      uint32_t changed = changed_entry(entries, old - 1);
      if (LT_LIKELY(changed == 0)) {
        struct lt_frame_entry *same = &entries[old - 1];
        same->framePointerSlot = e.framePointerSlot ? e.framePointerSlot : &same->framePointer;
        same->contextSlot = e.contextSlot;
        return (struct walk){old, count, LT_RULE_STEP};
      }
      old = changed - 1;
    }
    if (LT_UNLIKELY(count >= limit)) return (struct walk){0, count, LT_RULE_STEP};
    fresh[count++] = e;
    uint64_t rule = lt_rule_for(e.returnAddress, t->imageGeneration);
    if (LT_UNLIKELY(lt_rule_kind(rule) != LT_RULE_STEP)) return (struct walk){0, count, lt_rule_kind(rule)};
    uintptr_t cfa = (lt_rule_uses_frame_pointer(rule) ? e.framePointer : e.returnSlot + 8) + lt_rule_offset(rule);
    uint64_t slot = lt_rule_frame_pointer_slot(rule), contextSlot = lt_rule_context_slot(rule);
    if (LT_UNLIKELY(cfa <= e.returnSlot + 8 || cfa % 8 || !lt_stack_memory_has(t, cfa - 16))) return (struct walk){0, count, LT_RULE_NONE};
    // Slots of a frame lie between its callee's return slot, which was readable, and its own.
    if (LT_UNLIKELY(slot && cfa - slot <= e.returnSlot)) return (struct walk){0, count, LT_RULE_FULL};
    e.returnSlot = cfa - 8;
    e.returnAddress = *(const uint64_t *)(cfa - 8);
    e.framePointerSlot = slot ? (const uint64_t *)(cfa - slot) : NULL;
    if (slot) e.framePointer = *e.framePointerSlot;
    e.contextSlot = contextSlot ? cfa - contextSlot : 0;
    if (LT_UNLIKELY(!e.returnAddress)) return (struct walk){0, count, LT_RULE_END};
  }
}

// --- the task's callers -----------------------------------------------------------------------------------------------

/// The register r14 of the frame that called a hook, seen from a function the hook called: in a slot of one of the recorder's own
/// frames, or still in the register.
static LT_NOINLINE uint64_t live_context_register(const uintptr_t *hookFrame, uint32_t generation) {
  uint64_t value;
  uintptr_t address;
  __asm__ volatile("movq %%r14, %0\n\tleaq (%%rip), %1" : "=&r"(value), "=&r"(address));
  const uintptr_t *frame = __builtin_frame_address(0);
  // This function's frame first, then outwards to the hook's: the outermost that saved the register has its oldest value.
  for (int i = 0; i < 16; i++) {
    uint64_t slot = lt_rule_context_slot(lt_rule_for(address, generation));
    if (slot) value = *(const uint64_t *)((uintptr_t)frame + 16 - slot);
    if (frame >= hookFrame) break;
    address = frame[1];
    frame = (const uintptr_t *)frame[0];
  }
  return value;
}

/// r14 in the async function at the bottom of the stack: saved by the outermost of the functions it called that did, or live.
static uint64_t context_register(struct lt_thread *t, const uintptr_t *hookFrame) {
  for (uint32_t i = 1; i < t->depth; i++)
    if (t->entries[i].contextSlot) return *(const uint64_t *)t->entries[i].contextSlot;
  return live_context_register(hookFrame, t->imageGeneration);
}

// --- changes -----------------------------------------------------------------------------------------------------------

static LT_NOINLINE void change_everything(struct lt_thread *t, uint32_t count, struct lt_stack_change *change) {
  *change = (struct lt_stack_change){.pops = t->recordedDepth, .pushes = count, .keys = t->pushed,
                                     .innermost = count > 0 ? t->pushed[count - 1] : 0, .next = count > 1 ? t->pushed[count - 2] : 0};
  t->recordedDepth = count;
}

/// What tells a task from others. The chain's length is limited: of a deeper one, this is a caller on the way.
static LT_ALWAYS_INLINE uint64_t outermost_context(const struct lt_thread *t) { return t->asyncDepth ? (uint64_t)t->async[t->asyncDepth - 1].context : 0; }

/// By the full tables. Nothing is kept for the next capture to build on.
static LT_NOINLINE void capture_by_full_tables(struct lt_thread *t, const uintptr_t *hookFrame, struct lt_stack_change *change) {
  t->depth = 0;
  t->endsInTask = 0;
  struct lt_full_stack stack = {.keys = (uint64_t *)t->fresh, .capacity = t->entryLimit};
  lt_full_unwind(t, hookFrame, &stack);
  t->task = outermost_context(t);
  if (stack.isIncomplete) t->drops[LT_DROP_STACK_INCOMPLETE]++;
  uint32_t count = 0;
  if (stack.isTruncated) {
    t->drops[LT_DROP_STACK_TRUNCATED]++;
    t->pushed[count++] = LT_FRAME_EXACT;
  }
  for (uint32_t i = stack.count; i > 0; i--) t->pushed[count++] = stack.keys[i - 1];
  change_everything(t, count, change);
  t->asyncDepth = 0;
}

/// Deeper than the limit: the innermost frames are recorded, and hang from one that says that there are more.
static LT_NOINLINE void capture_cut(struct lt_thread *t, uint32_t count, struct lt_stack_change *change) {
  t->drops[LT_DROP_STACK_TRUNCATED]++;
  t->depth = 0;
  t->endsInTask = 0;
  t->asyncDepth = 0;
  t->pushed[0] = LT_FRAME_EXACT;
  for (uint32_t i = 0; i < count; i++) t->pushed[i + 1] = t->fresh[count - 1 - i].returnAddress;
  change_everything(t, count + 1, change);
}

/// The bottom of the stack is in a task. Settles the task's callers; what of the recorded stack is kept is left in `*kept`, what is pushed
/// below the physical frames goes to the thread's scratch memory, as many as returned. UINT32_MAX: no callers to be found.
static LT_NOINLINE uint32_t settle_task(struct lt_thread *t, const uintptr_t *hookFrame, uint32_t *kept) {
  bool hasFramePointer = t->depth > 1 && lt_rule_uses_frame_pointer(lt_rule_for(t->entries[1].returnAddress, t->imageGeneration));
  uint32_t before = t->asyncDepth;
  struct lt_async_change async = lt_async_callers_update(t, t->entries[0].returnSlot, hasFramePointer, context_register(t, hookFrame));
  if (!async.isFound) return UINT32_MAX;
  if (*kept > 0 && async.kept == t->asyncDepth && before == t->asyncDepth) {
    *kept = t->asyncDepth + *kept - 1;
    return 0;
  }
  // In a new payload, or after a stack that was not this task's, the reader has none of them.
  if (t->recordedDepth < before || !t->recordedAsync) async.kept = 0;
  uint32_t count = 0;
  for (uint32_t i = t->asyncDepth - async.kept; i > 0; i--) t->pushed[count++] = lt_async_key(t, i - 1);
  *kept = async.kept;
  return count;
}

static LT_ALWAYS_INLINE void capture(struct lt_thread *t, const uintptr_t *hookFrame, struct lt_stack_change *change) {
  lt_stack_memory_begin(t, (uintptr_t)hookFrame);
  uint32_t generation = atomic_load_explicit(&lt_image_generation, memory_order_relaxed);
  if (LT_UNLIKELY(t->imageGeneration != generation)) {
    t->imageGeneration = generation;
    t->depth = 0;
  }
  struct lt_frame_entry *entries = t->entries, *fresh = t->fresh;
  struct walk walk = walk_changed(t, hookFrame);
  uint32_t total = walk.kept + walk.fresh;
  if (LT_UNLIKELY(walk.kept == 0)) {
    if (walk.end == LT_RULE_FULL) return capture_by_full_tables(t, hookFrame, change);
    if (walk.end == LT_RULE_STEP) return capture_cut(t, walk.fresh, change);
    if (walk.end == LT_RULE_NONE) t->drops[LT_DROP_STACK_INCOMPLETE]++;
    t->endsInTask = walk.end == LT_RULE_RUNNER;
  } else if (LT_UNLIKELY(total > t->entryLimit)) {
    // The limit was reached by growing on what was kept: begin again without it.
    t->depth = 0;
    return capture_cut(t, walk_changed(t, hookFrame).fresh, change);
  }
  // The fresh frames, innermost first, become the top of the kept ones, innermost last.
  for (uint32_t i = 0; i < walk.fresh; i++) {
    struct lt_frame_entry *to = &entries[total - 1 - i];
    *to = fresh[i];
    if (!to->framePointerSlot) to->framePointerSlot = &to->framePointer;
  }
  t->depth = total;
  uint32_t kept = walk.kept, pushes = 0, first = walk.kept;
  if (LT_UNLIKELY(t->endsInTask)) {
    uint32_t physical = walk.kept;
    kept = walk.kept;
    pushes = settle_task(t, hookFrame, &kept);
    if (LT_UNLIKELY(pushes == UINT32_MAX)) return capture_by_full_tables(t, hookFrame, change);
    // The bottom entry is in the runtime: no frame of the task.
    bool callersHold = physical > 0 && kept == t->asyncDepth + physical - 1 && pushes == 0;
    first = callersHold ? physical : 1;
    t->recordedAsync = 1;
    t->task = outermost_context(t);
    for (uint32_t i = first; i < total; i++) t->pushed[pushes++] = entries[i].returnAddress;
    *change = (struct lt_stack_change){.pops = t->recordedDepth - kept, .pushes = pushes, .keys = t->pushed};
    t->recordedDepth = t->asyncDepth + total - 1;
    change->innermost = total > 1 ? entries[total - 1].returnAddress : lt_async_key(t, 0);
    change->next = total > 2 ? entries[total - 2].returnAddress : total > 1 ? lt_async_key(t, 0) : t->asyncDepth > 1 ? lt_async_key(t, 1) : 0;
    return;
  }
  t->recordedAsync = 0;
  t->task = 0;
  t->asyncDepth = 0;
  for (uint32_t i = first; i < total; i++) t->pushed[pushes++] = entries[i].returnAddress;
  *change = (struct lt_stack_change){.pops = t->recordedDepth - kept, .pushes = pushes, .keys = t->pushed};
  t->recordedDepth = total;
  change->innermost = entries[total - 1].returnAddress;
  change->next = total > 1 ? entries[total - 2].returnAddress : 0;
}

// --- checking mode --------------------------------------------------------------------------------------------------------

/// Compares what was captured with a fresh unwind by the full tables, frame by frame, and counts a mismatch.
static LT_NOINLINE void check_against_full_tables(struct lt_thread *t, const uintptr_t *hookFrame) {
  if (t->depth == 0) return; // was captured by them, or cut
  uint32_t asyncDepth = t->asyncDepth, bottom = t->endsInTask ? 1 : 0;
  struct lt_async_entry async[LT_ASYNC_LIMIT];
  memcpy(async, t->async, asyncDepth * sizeof *async);
  struct lt_full_stack stack = {.keys = (uint64_t *)t->fresh, .capacity = t->entryLimit};
  lt_full_unwind(t, hookFrame, &stack);
  uint32_t physical = t->depth - bottom;
  bool isSame = stack.count == physical + (bottom ? asyncDepth : 0);
  for (uint32_t i = 0; isSame && i < physical; i++) isSame = stack.keys[i] == t->entries[t->depth - 1 - i].returnAddress;
  for (uint32_t i = 0; isSame && bottom && i < asyncDepth; i++) isSame = stack.keys[physical + i] == (async[i].resume | LT_FRAME_EXACT | LT_FRAME_ASYNC);
  if (!isSame) t->drops[LT_DROP_STACK_MISMATCH]++;
  // What the fast path keeps must not be repaired by the check.
  memcpy(t->async, async, asyncDepth * sizeof *async);
  t->asyncDepth = asyncDepth;
}

void lt_capture_stack(struct lt_thread *t, const uintptr_t *hookFrame, struct lt_stack_change *change) {
  capture(t, hookFrame, change);
  if (LT_UNLIKELY(!lt_buffer_fits(t, change->pushes)) && lt_buffer_make_room(t)) capture(t, hookFrame, change);
  if (LT_UNLIKELY(verifiesStacks)) check_against_full_tables(t, hookFrame);
}
