// Hooks of the Swift runtime: guard, call, record, nothing else.
//
// A release is recorded before it happens: it may free the object. A retain is recorded before as well, since the caller holds the
// object anyway, so that the call can be the last thing the hook does. What may fail is recorded when it succeeded.

#define _GNU_SOURCE
#include "swift_hooks.h"

#include "event_recorder.h"
#include "hook.h"
#include "next_functions.h"
#include "thread_state.h"

#include <dlfcn.h>


/// What the runtime itself does, whatever its pointers say now.
static struct {
  void *(*allocObject)(const void *, size_t, size_t);
  void *(*retain)(void *);
  void *(*retain_n)(void *, uint32_t);
  void (*release)(void *);
  void (*release_n)(void *, uint32_t);
  void *(*tryRetain)(void *);
} runtime;

/// The functions that count inside the runtime and are interposed by name, for callers outside it.
static struct {
  void *(*weakLoadStrong)(void *);
  void *(*weakTakeStrong)(void *);
  void *(*unownedRetainStrong)(void *);
  void (*unownedRetainStrongAndRelease)(void *);
  void *(*unownedRetain)(void *);
  void (*unownedRelease)(void *);
  void *(*nonatomicRetain)(void *);
  void *(*nonatomicRetainN)(void *, uint32_t);
  void (*nonatomicRelease)(void *);
  void (*nonatomicReleaseN)(void *, uint32_t);
} outside;

static uint8_t arcMode;
static uint8_t *isHookedByte;

/// Bits of a reference that are an address; the others mark native strings, bridged objects and the like.
#define ADDRESS_BITS 0x00FFFFFFFFFFFFF8ull

/// The object of an event whose hook may be called with marks in the reference.
#define OBJECT(reference) ((const void *)((uint64_t)(reference) & ADDRESS_BITS))

#define RECORD(operation, reference)                                                              \
  do {                                                                                           \
    struct lt_thread *t = lt_enter();                                                            \
    if (t) {                                                                                     \
      if (LT_LIKELY(arcMode == LT_ARC_STACKS)) lt_record(t, operation, OBJECT(reference), LT_HOOK_FRAME); \
      else lt_record_alone(t, operation, OBJECT(reference));                                     \
      lt_leave();                                                                                \
    }                                                                                            \
  } while (0)
#define RECORD_COUNT(operation, reference, count)                                                 \
  do {                                                                                           \
    struct lt_thread *t = lt_enter();                                                            \
    if (t) {                                                                                     \
      if (LT_LIKELY(arcMode == LT_ARC_STACKS)) lt_record_size(t, operation, OBJECT(reference), count, LT_HOOK_FRAME); \
      else lt_record_size_alone(t, operation, OBJECT(reference), count);                         \
      lt_leave();                                                                                \
    }                                                                                            \
  } while (0)
/// Null and values that are no pointers (small strings and immortal objects are ≤ 0) are not counted by the runtime.
#define IS_COUNTED(object) ((intptr_t)(object) > 0)

// --- through the runtime's pointers -------------------------------------------------------------------------------------

static void *hook_allocObject(const void *metadata, size_t size, size_t alignMask) {
  // The runtime turns all its hooks on when it meets this one. Without retains and releases to record, its short ways are better.
  if (arcMode == LT_ARC_OFF) *isHookedByte = 0;
  lt_tls.isInsideObjectAllocation++;
  void *object = runtime.allocObject(metadata, size, alignMask);
  lt_tls.isInsideObjectAllocation--;
  struct lt_thread *t = lt_enter();
  if (t) {
    lt_record_object(t, object, size, metadata, LT_HOOK_FRAME);
    lt_leave();
  }
  return object;
}

static LT_ALWAYS_INLINE void *record_and_retain(void *object) {
  if (!IS_COUNTED(object)) return object;
  RECORD(LT_OP_RETAIN, object);
  runtime.retain((void *)((uint64_t)object & ADDRESS_BITS));
  return object;
}

static void *hook_retain(void *object) { return record_and_retain(object); }

/// What the runtime's adapter should do: it clears the marks of a small string before it looks whether that was a pointer.
static void *retain_only(void *object) {
  if (IS_COUNTED(object)) runtime.retain((void *)((uint64_t)object & ADDRESS_BITS));
  return object;
}

static void *hook_retain_n(void *object, uint32_t count) {
  if (IS_COUNTED(object)) RECORD_COUNT(LT_OP_RETAIN_N, object, count);
  return runtime.retain_n(object, count);
}

static void hook_release(void *object) {
  if (!IS_COUNTED(object)) return;
  RECORD(LT_OP_RELEASE, object);
  runtime.release(object);
}

static void hook_release_n(void *object, uint32_t count) {
  if (IS_COUNTED(object)) RECORD_COUNT(LT_OP_RELEASE_N, object, count);
  runtime.release_n(object, count);
}

static void *hook_tryRetain(void *object) {
  void *result = runtime.tryRetain(object);
  if (IS_COUNTED(result)) RECORD(LT_OP_TRY_RETAIN, result);
  return result;
}

/// For a runtime whose adapter could not be found by name. The adapter clears the marks of a reference before anybody can see
/// whether it was a pointer, but keeps the whole in rbx.
void lt_swift_retain_from_adapter(void);
static void *hook_retain_counted(void *object) __attribute__((used));
static void *hook_retain_counted(void *object) { return arcMode == LT_ARC_OFF ? runtime.retain(object) : record_and_retain(object); }
__asm__(
    ".text\n"
    ".hidden lt_swift_retain_from_adapter\n"
    ".globl lt_swift_retain_from_adapter\n"
    ".type lt_swift_retain_from_adapter, @function\n"
    "lt_swift_retain_from_adapter:\n"
    "  .cfi_startproc\n"
    "  movq %rdi, %rax\n"
    "  testq %rbx, %rbx\n"
    "  jg hook_retain_counted\n"
    "  ret\n"
    "  .cfi_endproc\n"
    ".size lt_swift_retain_from_adapter, .-lt_swift_retain_from_adapter\n");

void lt_swift_hooks_install(const struct lt_swift_runtime *r) {
  runtime.allocObject = *r->allocObject;
  runtime.retain = *r->retain;
  runtime.retain_n = *r->retain_n;
  runtime.release = *r->release;
  runtime.release_n = *r->release_n;
  runtime.tryRetain = *r->tryRetain;
  isHookedByte = r->isHooked;
  if (r->retainAdapter) *r->retainAdapter = arcMode == LT_ARC_OFF ? retain_only : hook_retain;
  else *r->retain = (void *(*)(void *))lt_swift_retain_from_adapter;
  *r->allocObject = hook_allocObject;
  if (arcMode == LT_ARC_OFF) return;
  *r->retain_n = hook_retain_n;
  *r->release = hook_release;
  *r->release_n = hook_release_n;
  *r->tryRetain = hook_tryRetain;
  *r->isHooked = 1;
}

// --- by name, for callers outside the runtime ------------------------------------------------------------------------------

void lt_swift_hooks_init(uint8_t mode) {
  arcMode = mode;
  *(void **)&outside.weakLoadStrong = dlsym(RTLD_NEXT, "swift_weakLoadStrong");
  *(void **)&outside.weakTakeStrong = dlsym(RTLD_NEXT, "swift_weakTakeStrong");
  *(void **)&outside.unownedRetainStrong = dlsym(RTLD_NEXT, "swift_unownedRetainStrong");
  *(void **)&outside.unownedRetainStrongAndRelease = dlsym(RTLD_NEXT, "swift_unownedRetainStrongAndRelease");
  *(void **)&outside.unownedRetain = dlsym(RTLD_NEXT, "swift_unownedRetain");
  *(void **)&outside.unownedRelease = dlsym(RTLD_NEXT, "swift_unownedRelease");
  *(void **)&outside.nonatomicRetain = dlsym(RTLD_NEXT, "swift_nonatomic_retain");
  *(void **)&outside.nonatomicRetainN = dlsym(RTLD_NEXT, "swift_nonatomic_retain_n");
  *(void **)&outside.nonatomicRelease = dlsym(RTLD_NEXT, "swift_nonatomic_release");
  *(void **)&outside.nonatomicReleaseN = dlsym(RTLD_NEXT, "swift_nonatomic_release_n");
}

#define IS_RECORDED (arcMode != LT_ARC_OFF)

LT_EXPORT void *LT_HOOK(swift_weakLoadStrong)(void *reference) {
  void *object = outside.weakLoadStrong(reference);
  if (IS_RECORDED && IS_COUNTED(object)) RECORD(LT_OP_WEAK_LOAD_STRONG, object);
  return object;
}

LT_EXPORT void *LT_HOOK(swift_weakTakeStrong)(void *reference) {
  void *object = outside.weakTakeStrong(reference);
  if (IS_RECORDED && IS_COUNTED(object)) RECORD(LT_OP_WEAK_TAKE_STRONG, object);
  return object;
}

LT_EXPORT void *LT_HOOK(swift_unownedRetainStrong)(void *object) {
  void *result = outside.unownedRetainStrong(object);
  if (IS_RECORDED && IS_COUNTED(result)) RECORD(LT_OP_UNOWNED_RETAIN_STRONG, result);
  return result;
}

LT_EXPORT void LT_HOOK(swift_unownedRetainStrongAndRelease)(void *object) {
  outside.unownedRetainStrongAndRelease(object);
  if (IS_RECORDED && IS_COUNTED(object)) RECORD(LT_OP_UNOWNED_RETAIN_STRONG_AND_RELEASE, object);
}

LT_EXPORT void *LT_HOOK(swift_unownedRetain)(void *object) {
  if (IS_RECORDED && IS_COUNTED(object)) RECORD(LT_OP_UNOWNED_RETAIN, object);
  return outside.unownedRetain(object);
}

LT_EXPORT void LT_HOOK(swift_unownedRelease)(void *object) {
  if (IS_RECORDED && IS_COUNTED(object)) RECORD(LT_OP_UNOWNED_RELEASE, object);
  outside.unownedRelease(object);
}

LT_EXPORT void *LT_HOOK(swift_nonatomic_retain)(void *object) {
  if (IS_RECORDED && IS_COUNTED(object)) RECORD(LT_OP_NONATOMIC_RETAIN, object);
  return outside.nonatomicRetain(object);
}

LT_EXPORT void *LT_HOOK(swift_nonatomic_retain_n)(void *object, uint32_t count) {
  if (IS_RECORDED && IS_COUNTED(object)) RECORD_COUNT(LT_OP_NONATOMIC_RETAIN_N, object, count);
  return outside.nonatomicRetainN(object, count);
}

LT_EXPORT void LT_HOOK(swift_nonatomic_release)(void *object) {
  if (IS_RECORDED && IS_COUNTED(object)) RECORD(LT_OP_NONATOMIC_RELEASE, object);
  outside.nonatomicRelease(object);
}

LT_EXPORT void LT_HOOK(swift_nonatomic_release_n)(void *object, uint32_t count) {
  if (IS_RECORDED && IS_COUNTED(object)) RECORD_COUNT(LT_OP_NONATOMIC_RELEASE_N, object, count);
  outside.nonatomicReleaseN(object, count);
}
