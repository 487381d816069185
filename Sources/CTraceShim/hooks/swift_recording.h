// Records events of Swift objects, for hooks that are called with a reference.

#ifndef LEAKTRACE_SWIFT_RECORDING_H
#define LEAKTRACE_SWIFT_RECORDING_H

#include "hooks/hook.h"
#include "process/thread_entry.h"
#include "record/event_recorder.h"

/// The way to record retains and releases: LT_ARC_. Set before hooks are on, and to LT_ARC_OFF where samples are taken.
extern uint8_t lt_arc_mode __attribute__((visibility("hidden")));

/// The object of an event whose hook may be called with marks in the reference: of native strings, bridged objects and
/// the like.
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
/// Null and values that are no pointers (small strings and immortal objects are ≤ 0) are not counted by the runtime.
#define IS_COUNTED(object) ((intptr_t)(object) > 0)

#endif
