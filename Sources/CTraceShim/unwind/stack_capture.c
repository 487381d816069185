// Captures a thread's stack as a change to the previous one, and allocates the record of that stack.

#include "unwind/stack_capture.h"

#include "check.h"
#include "thread/thread_state.h"
#include "unwind/unwind_step.h"

#include <string.h>

// === room ============================================================================================================

// Memory for the record of a thread's last stack. One mapping holds all the arrays.

enum {
  /// addresses this far apart compete for the same cache lines, whatever the kernel's page size is
  CACHE_WAY = 4096,
  /// offset between the starts of arrays that are used together, so that they do not compete for the same cache lines
  PART = 512,
  FIRST_FRAMES = 512, ///< these take 100 kB; deeper stacks are rare
  GROWTH = 8,
};

/// Places an array after the earlier ones. The array begins at part number `part` of a cache way.
static size_t place(size_t *used, size_t size, unsigned part) {
  size_t start = (*used + CACHE_WAY - 1) / CACHE_WAY * CACHE_WAY + part * PART;
  *used = start + size;
  return start;
}

static bool take(struct lt_thread *t, uint32_t frames) {
  size_t used = 0;
  size_t entries = place(&used, (frames + 1ul) * sizeof *t->entries, 0),
         addresses = place(&used, frames * sizeof *t->addresses, 3);
  size_t wordAddresses = place(&used, 2ul * frames * sizeof *t->words.addresses, 1),
         wordValues = place(&used, 2ul * frames * sizeof *t->words.values, 2);
  size_t pairAddresses = place(&used, frames * sizeof *t->pairs.addresses, 4),
         pairValues = place(&used, frames * sizeof *t->pairs.values, 5);
  size_t fresh = place(&used, frames * sizeof *t->fresh, 7),
         pushed = place(&used, (frames + LT_ASYNC_LIMIT + 1ul) * sizeof *t->pushed, 6);
  uint8_t *memory = lt_map_private(used);
  if (!memory) return false;
  LT_CHECK(frames > 0 && fresh + frames * sizeof *t->fresh <= used);
  LT_CHECK(pushed + (frames + LT_ASYNC_LIMIT + 1ul) * sizeof *t->pushed == used);
  t->room = memory;
  t->roomSize = used;
  t->entries = (struct lt_frame_entry *)(memory + entries);
  // An extra entry precedes the first one.
  *t->entries++ = (struct lt_frame_entry){.state.stackPointer = UINTPTR_MAX};
  t->addresses = (uint64_t *)(memory + addresses);
  t->words = (struct lt_stack_words){(const uint64_t **)(memory + wordAddresses), (uint64_t *)(memory + wordValues)};
  t->pairs = (struct lt_stack_pairs){(const lt_two_words_anywhere **)(memory + pairAddresses),
                                     (lt_two_words *)(memory + pairValues)};
  t->fresh = (struct lt_fresh_frame *)(memory + fresh);
  t->pushed = (uint64_t *)(memory + pushed);
  t->entryLimit = frames;
  t->freshLimit = frames < LT_EVENT_PUSH_LIMIT ? frames : LT_EVENT_PUSH_LIMIT;
  t->depth = 0;
  LT_CHECK(lt_stack_room_is_valid(t));
  return true;
}

bool lt_stack_room_make(struct lt_thread *t, uint32_t limit) {
  LT_CHECK(limit > 0 && !t->room);
  t->mayGrow = limit > FIRST_FRAMES;
  return take(t, t->mayGrow ? FIRST_FRAMES : limit);
}

bool lt_stack_room_grow(struct lt_thread *t, uint32_t limit) {
  if (!t->mayGrow) return false;
  LT_CHECK(lt_stack_room_is_valid(t) && t->entryLimit < limit);
  uint8_t *room = t->room;
  size_t size = t->roomSize;
  uint32_t frames = t->entryLimit <= limit / GROWTH ? t->entryLimit * GROWTH : limit;
  LT_CHECK(frames > t->entryLimit && frames <= limit);
  if (!take(t, frames)) {
    t->mayGrow = false;
    return false;
  }
  t->mayGrow = frames < limit;
  lt_unmap(room, size);
  return true;
}

// === capture =========================================================================================================

// Captures the stacks that the fast path cannot capture. Such stacks differ from the last one at their outer end, or
// are in tasks, or have frames that the short rules cannot express. Also verifies captures (lt_verifies_stacks).

static uint32_t depthLimit = 65536;
bool lt_verifies_stacks;

bool lt_stack_capture_init(uint32_t limit, bool verifies) {
  LT_CHECK(limit > 0);
  depthLimit = limit;
  lt_verifies_stacks = verifies;
  return lt_unwind_rules_init();
}

uint32_t lt_stack_depth_limit(void) { return depthLimit; }

void lt_stack_capture_invalidate(void) {
  atomic_fetch_add(&lt_image_generation, 1);
  lt_thread_send_to_prepare();
}

void lt_stack_capture_renew(struct lt_thread *t) {
  uint32_t generation = atomic_load(&lt_image_generation);
  if (t->imageGeneration == generation) return;
  t->imageGeneration = generation;
  t->depth = 0;
  for (uint32_t i = 0; i < LT_KEY_COUNT; i++) t->dictionary[i].rule = LT_RULE_UNKNOWN;
  // A new type may have the address of an old one, so the type's number must be looked up again.
  for (uint32_t i = 0; i < LT_CONTEXT_COUNT; i++) t->site[i].metadata = 0;
}

// --- changed entries -------------------------------------------------------------------------------------------------

LT_NOINLINE uint32_t lt_changed_entry(const struct lt_thread *t, uint32_t index) {
  LT_CHECK(index < t->depth);
  for (; index > 0; index--) {
    const struct lt_frame_entry *entry = &t->entries[index];
    LT_CHECK(entry[-1].wordEnd <= entry->wordEnd && entry[-1].pairEnd <= entry->pairEnd);
    LT_CHECK(entry->state.stackPointer < entry[-1].state.stackPointer);
    for (uint32_t i = entry[-1].wordEnd; i < entry->wordEnd; i++)
      if (*t->words.addresses[i] != t->words.values[i]) return index;
    for (uint32_t i = entry[-1].pairEnd; i < entry->pairEnd; i++) {
      lt_two_words difference = *t->pairs.addresses[i] ^ t->pairs.values[i];
      if (difference[0] | difference[1]) return index;
    }
  }
  return 1; // Another thread wrote to this stack between the checks, so none of its entries can be trusted.
}

/// Makes the outermost frame the first entry.
static void keep_outermost(struct lt_thread *t, const struct lt_fresh_frame *frame) {
  LT_CHECK(frame >= t->fresh && frame < t->fresh + t->entryLimit);
  bool needsFramePointer = lt_rule_kind(frame->rule) == LT_RULE_STEP && lt_rule_uses_frame_pointer(frame->rule);
  t->entries[0] =
      (struct lt_frame_entry){frame->state, frame->rule | (needsFramePointer ? LT_NEEDS_FRAME_POINTER : 0), 0, 0};
  t->addresses[0] = frame->returnAddress;
}

// --- the task's callers ----------------------------------------------------------------------------------------------

/// Returns the context register of the frame that called a hook. This function runs inside the hook. So one of the
/// recorder's own frames may have saved the register; otherwise the register still has the value.
static LT_NOINLINE uint64_t live_context_register(struct lt_hook_frame hookFrame, uint32_t generation) {
  uint64_t value;
  uintptr_t address;
  lt_read_context_register(&value, &address);
  const uintptr_t *frame = __builtin_frame_address(0);
  // Go outwards from this function's frame to the hook's. The outermost frame that saved the register has the value
  // from before the hook.
  for (int i = 0; i < 16; i++) {
    uint64_t rule = lt_rule_for(address, generation), slot = lt_rule_context_slot(rule);
    if (slot) value = *(const uint64_t *)((uintptr_t)frame + lt_rule_offset(rule) - slot);
    if (frame >= hookFrame.record) break;
    address = frame[1];
    frame = (const uintptr_t *)frame[0];
  }
  return value;
}

/// Returns the context register of the async function at the outer end of the stack. The outermost callee that saved
/// the register has this value. If none saved it, the value is still in the register or in the recorder's frames.
static uint64_t context_register(struct lt_thread *t, struct lt_hook_frame hookFrame) {
  for (uint32_t i = 2; i < t->depth; i++) {
    uint64_t slot = lt_rule_context_slot(t->entries[i].rule);
    if (slot) return *(const uint64_t *)(t->entries[i - 1].state.stackPointer - slot);
  }
  return live_context_register(hookFrame, t->imageGeneration);
}

// --- changes ---------------------------------------------------------------------------------------------------------

static LT_NOINLINE void change_everything(struct lt_thread *t, uint32_t count, struct lt_stack_change *change) {
  LT_CHECK(count <= t->entryLimit + LT_ASYNC_LIMIT + 1);
  *change = (struct lt_stack_change){.pops = t->recordedDepth,
                                     .pushes = count,
                                     .keys = t->pushed,
                                     .innermost = count > 0 ? t->pushed[count - 1] : 0,
                                     .next = count > 1 ? t->pushed[count - 2] : 0};
  t->recordedDepth = count;
}

/// Returns the context that identifies a task. If the chain is longer than the limit, the result is a context in the
/// middle of the chain.
static LT_ALWAYS_INLINE uint64_t outermost_context(const struct lt_thread *t) {
  return t->asyncDepth ? (uint64_t)t->async[t->asyncDepth - 1].context : 0;
}

static void set_ends_in_task(struct lt_thread *t, bool endsInTask) {
  t->endsInTask = endsInTask;
  t->needsSlowCapture = endsInTask || lt_verifies_stacks;
  if (endsInTask) return;
  t->recordedAsync = 0;
  t->task = 0;
  t->asyncDepth = 0;
}

/// Captures with the full tables. The next capture cannot reuse anything of this stack.
static LT_NOINLINE void capture_by_full_tables(struct lt_thread *t, struct lt_hook_frame hookFrame,
                                               struct lt_stack_change *change) {
  t->depth = 0;
  set_ends_in_task(t, false);
  struct lt_full_stack stack;
  do {
    stack = (struct lt_full_stack){.keys = (uint64_t *)t->fresh, .capacity = t->entryLimit};
    lt_full_unwind(t, hookFrame, &stack);
  } while (stack.isTruncated && lt_stack_room_grow(t, depthLimit));
  LT_CHECK(stack.count <= stack.capacity && stack.capacity == t->entryLimit);
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

/// Captures a stack that is deeper than the limit. Records the innermost frames, preceded by a key that marks the
/// missing ones.
static LT_NOINLINE void capture_cut(struct lt_thread *t, uint32_t count, struct lt_stack_change *change) {
  LT_CHECK(count <= t->entryLimit);
  t->drops[LT_DROP_STACK_TRUNCATED]++;
  t->depth = 0;
  uint64_t task = t->task;
  set_ends_in_task(t, false);
  t->task = task; // this capture did not reach the outer end of the task's stack
  t->pushed[0] = LT_FRAME_EXACT;
  for (uint32_t i = 0; i < count; i++) t->pushed[i + 1] = t->fresh[count - 1 - i].returnAddress;
  change_everything(t, count + 1, change);
}

/// Updates the callers of the task at the outer end of the stack. Sets `*kept` to the number of the recorded stack's
/// keys that stay. Writes the keys to be pushed for callers to the thread's scratch memory, and returns their number.
/// Returns UINT32_MAX if no callers were found.
static LT_NOINLINE uint32_t settle_task(struct lt_thread *t, struct lt_hook_frame hookFrame, uint32_t *kept) {
  uint64_t rule = t->depth > 1 ? t->entries[1].rule : 0;
  uint32_t before = t->asyncDepth;
  LT_CHECK(t->endsInTask && t->depth > 0);
  struct lt_async_change async =
      lt_async_callers_update(t, t->entries[0].state.stackPointer, rule, context_register(t, hookFrame));
  if (!async.isFound) return UINT32_MAX;
  LT_CHECK(async.kept <= t->asyncDepth && t->asyncDepth > 0);
  if (*kept > 0 && async.kept == t->asyncDepth && before == t->asyncDepth) {
    *kept = t->asyncDepth + *kept - 1;
    return 0;
  }
  // In a new payload, or after a stack of another task, the reader knows none of these callers.
  if (t->recordedDepth < before || !t->recordedAsync) async.kept = 0;
  uint32_t count = 0;
  for (uint32_t i = t->asyncDepth - async.kept; i > 0; i--) t->pushed[count++] = lt_async_key(t, i - 1);
  LT_CHECK(count <= LT_ASYNC_LIMIT);
  *kept = async.kept;
  return count;
}

/// Finds the change of a stack whose outer end is in a task. `physical` is the number of entries that were kept. False
/// if the task's callers cannot be found.
static LT_NOINLINE bool change_in_task(struct lt_thread *t, struct lt_hook_frame hookFrame, uint32_t physical,
                                       struct lt_stack_change *change) {
  uint32_t kept = physical, total = t->depth, pushes = settle_task(t, hookFrame, &kept);
  if (LT_UNLIKELY(pushes == UINT32_MAX)) return false;
  // The first entry is in the concurrency runtime, so it is not a frame of the task.
  bool callersHold = physical > 0 && kept == t->asyncDepth + physical - 1 && pushes == 0;
  t->recordedAsync = 1;
  t->task = outermost_context(t);
  for (uint32_t i = callersHold ? physical : 1; i < total; i++) t->pushed[pushes++] = t->addresses[i];
  LT_CHECK(pushes <= t->entryLimit + LT_ASYNC_LIMIT + 1);
  LT_CHECK(kept <= t->recordedDepth);
  *change = (struct lt_stack_change){.pops = t->recordedDepth - kept, .pushes = pushes, .keys = t->pushed};
  t->recordedDepth = t->asyncDepth + total - 1;
  LT_CHECK(pushes + kept == t->recordedDepth);
  change->innermost = total > 1 ? t->addresses[total - 1] : lt_async_key(t, 0);
  change->next = total > 2           ? t->addresses[total - 2]
                 : total > 1         ? lt_async_key(t, 0)
                 : t->asyncDepth > 1 ? lt_async_key(t, 1)
                                     : 0;
  return true;
}

void lt_capture_finish(struct lt_thread *t, struct lt_hook_frame hookFrame, struct lt_walk walk,
                       struct lt_stack_change *change) {
  uint32_t total = walk.entries + walk.fresh;
  LT_CHECK(walk.kept <= walk.entries && walk.entries - walk.kept <= 1 && walk.entries <= t->depth);
  if (walk.entries == 0) {
    LT_CHECK(walk.fresh > 0);
    if (walk.end == LT_RULE_FULL) return capture_by_full_tables(t, hookFrame, change);
    if (walk.end == LT_RULE_STEP) return capture_cut(t, walk.fresh, change);
    if (walk.end == LT_RULE_NONE) t->drops[LT_DROP_STACK_INCOMPLETE]++;
    set_ends_in_task(t, walk.end == LT_RULE_RUNNER);
    keep_outermost(t, &t->fresh[walk.fresh - 1]);
    lt_keep_fresh(t, 1, walk.fresh - 1);
  } else if (total > t->entryLimit) {
    // The new frames and the kept ones together exceed the limit. Capture again without the last stack.
    t->depth = 0;
    return capture_cut(t, lt_walk_changed(t, hookFrame, t->entryLimit).fresh, change);
  } else {
    lt_keep_fresh(t, walk.entries, walk.fresh);
  }
  LT_CHECK(total > 0 && total <= t->entryLimit);
  t->depth = total;
  if (t->endsInTask) {
    if (!change_in_task(t, hookFrame, walk.kept, change)) capture_by_full_tables(t, hookFrame, change);
    return;
  }
  LT_CHECK(walk.kept <= t->recordedDepth);
  *change = (struct lt_stack_change){.pops = t->recordedDepth - walk.kept,
                                     .pushes = total - walk.kept,
                                     .keys = t->addresses + walk.kept,
                                     .innermost = t->addresses[total - 1],
                                     .next = total > 1 ? t->addresses[total - 2] : 0};
  t->recordedDepth = total;
}

// --- checking mode ---------------------------------------------------------------------------------------------------

struct check {
  struct lt_thread *thread;
  struct lt_hook_frame hookFrame;
};

/// Compares the captured stack with a fresh unwind by the full tables, frame by frame. Counts a mismatch.
static void check_against_full_tables(void *check) {
  struct lt_thread *t = ((struct check *)check)->thread;
  struct lt_hook_frame hookFrame = ((struct check *)check)->hookFrame;
  if (t->depth == 0) return; // the stack was captured by the full tables, or cut
  uint32_t asyncDepth = t->asyncDepth, bottom = t->endsInTask ? 1 : 0;
  struct lt_async_entry async[LT_ASYNC_LIMIT];
  LT_CHECK(asyncDepth <= LT_ASYNC_LIMIT && t->depth >= bottom);
  memcpy(async, t->async, asyncDepth * sizeof *async);
  struct lt_full_stack stack = {.keys = (uint64_t *)t->fresh, .capacity = t->entryLimit};
  lt_full_unwind(t, hookFrame, &stack);
  uint32_t physical = t->depth - bottom;
  bool isSame = stack.count == physical + (bottom ? asyncDepth : 0);
  for (uint32_t i = 0; isSame && i < physical; i++) isSame = stack.keys[i] == t->addresses[t->depth - 1 - i];
  for (uint32_t i = 0; isSame && bottom && i < asyncDepth; i++)
    isSame = stack.keys[physical + i] == (async[i].resume | LT_FRAME_EXACT | LT_FRAME_ASYNC);
  // Restore the fast path's own state, so that a check does not repair errors in it.
  memcpy(t->async, async, asyncDepth * sizeof *async);
  t->asyncDepth = asyncDepth;
  // If the task's memory has changed between the two results, both are right, and there is no mismatch.
  if (!isSame && (!bottom || lt_async_callers_are_unchanged(t))) t->drops[LT_DROP_STACK_MISMATCH]++;
}

LT_NOINLINE void lt_capture_verify(struct lt_thread *t, struct lt_hook_frame hookFrame) {
  struct check check = {t, hookFrame};
  lt_on_own_stack(check_against_full_tables, &check);
}
