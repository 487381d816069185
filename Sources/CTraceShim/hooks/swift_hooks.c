// Hooks of the Swift runtime's pointers: guard, call, record, nothing else.
//
// A release is recorded before it happens: it may free the object. A retain is recorded before as well, since the
// caller holds the object anyway, so that the call can be the last thing the hook does. A call that may fail is
// recorded when it has succeeded.
//
// A process may have several runtimes. Each has its own pointers, and so gets its own hooks, which call back into it.

#define _GNU_SOURCE
#include "hooks/swift_hooks.h"

#include "hooks/light_recording.h"
#include "hooks/swift_recording.h"

/// A runtime's own functions, independent of the current pointers.
struct calls {
  void *(*allocObject)(const void *, size_t, size_t);
  void *(*retain)(void *);
  void *(*retain_n)(void *, uint32_t);
  void (*release)(void *);
  void (*release_n)(void *, uint32_t);
  void *(*tryRetain)(void *);
  uint8_t *isHookedByte;
};
static struct calls runtimes[LT_SWIFT_RUNTIME_LIMIT];
/// The addresses of each runtime's pointers, and their original values that are not among its calls.
static struct {
  struct lt_swift_runtime places;
  void *(*retainAdapter)(void *);
  uint8_t isHooked;
} originals[LT_SWIFT_RUNTIME_LIMIT];

static LT_ALWAYS_INLINE void *allocate(const struct calls *runtime, const void *metadata, size_t size,
                                       size_t alignMask) {
  // The runtime turns all its hooks on when it sees this one. Without retains and releases to record, its fast paths
  // are better.
  if (lt_arc_mode == LT_ARC_OFF) {
    *runtime->isHookedByte = 0;
    if (lt_sample_period) {
      // The recorder has switched to sampling. The runtime is still loaded, since it calls.
      lt_swift_hooks_remove((unsigned)(runtime - runtimes));
      return runtime->allocObject(metadata, size, alignMask);
    }
  }
  lt_tls.isInsideObjectAllocation++;
  void *object = runtime->allocObject(metadata, size, alignMask);
  lt_tls.isInsideObjectAllocation--;
  struct lt_thread *t = lt_enter();
  if (t) {
    lt_record_object(t, object, size, metadata, LT_HOOK_FRAME);
    lt_leave();
  }
  return object;
}

static LT_ALWAYS_INLINE void *record_and_retain(const struct calls *runtime, void *object) {
  if (!IS_COUNTED(object)) return object;
  RECORD(LT_OP_RETAIN, object);
  runtime->retain(OBJECT(object));
  return object;
}

/// Does the work of the runtime's adapter, but correctly: the adapter clears the marks of a small string before it
/// checks for a pointer.
static LT_ALWAYS_INLINE void *retain_only(const struct calls *runtime, void *object) {
  if (IS_COUNTED(object)) runtime->retain(OBJECT(object));
  return object;
}

static LT_ALWAYS_INLINE void *retain_n(const struct calls *runtime, void *object, uint32_t count) {
  if (IS_COUNTED(object)) RECORD_COUNT(LT_OP_RETAIN_N, object, count);
  return runtime->retain_n(object, count);
}

static LT_ALWAYS_INLINE void release(const struct calls *runtime, void *object) {
  if (!IS_COUNTED(object)) return;
  RECORD(LT_OP_RELEASE, object);
  runtime->release(object);
}

static LT_ALWAYS_INLINE void release_n(const struct calls *runtime, void *object, uint32_t count) {
  if (IS_COUNTED(object)) RECORD_COUNT(LT_OP_RELEASE_N, object, count);
  runtime->release_n(object, count);
}

static LT_ALWAYS_INLINE void *try_retain(const struct calls *runtime, void *object) {
  void *result = runtime->tryRetain(object);
  if (IS_COUNTED(result)) RECORD(LT_OP_TRY_RETAIN, result);
  return result;
}

/// `retain_from_adapter` is for a runtime whose adapter could not be found by name. The adapter clears the marks of a
/// reference before a hook can see whether it was a pointer.
#define HOOKS_OF(n)                                                                                              \
  static void *hook_allocObject_##n(const void *metadata, size_t size, size_t alignMask) {                       \
    return allocate(&runtimes[n], metadata, size, alignMask);                                                    \
  }                                                                                                              \
  static void *hook_retain_##n(void *object) { return record_and_retain(&runtimes[n], object); }                 \
  static void *retain_only_##n(void *object) { return retain_only(&runtimes[n], object); }                       \
  static void *hook_retain_n_##n(void *object, uint32_t count) { return retain_n(&runtimes[n], object, count); } \
  static void hook_release_##n(void *object) { release(&runtimes[n], object); }                                  \
  static void hook_release_n_##n(void *object, uint32_t count) { release_n(&runtimes[n], object, count); }       \
  static void *hook_tryRetain_##n(void *object) { return try_retain(&runtimes[n], object); }                     \
  static void *hook_retain_counted_##n(void *object) __attribute__((used));                                      \
  static void *hook_retain_counted_##n(void *object) {                                                           \
    return lt_arc_mode == LT_ARC_OFF ? runtimes[n].retain(object) : record_and_retain(&runtimes[n], object);     \
  }                                                                                                              \
  LT_DEFINE_RETAIN_FROM_ADAPTER(lt_swift_retain_from_adapter_##n, hook_retain_counted_##n);

#define EACH_RUNTIME(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)
EACH_RUNTIME(HOOKS_OF)

struct hooks {
  void *(*allocObject)(const void *, size_t, size_t);
  void *(*retain)(void *), *(*retainOnly)(void *), *(*retainFromAdapter)(void *);
  void *(*retain_n)(void *, uint32_t);
  void (*release)(void *);
  void (*release_n)(void *, uint32_t);
  void *(*tryRetain)(void *);
};
#define HOOKS_ROW(n)                                                                             \
  {hook_allocObject_##n, hook_retain_##n,  retain_only_##n,    lt_swift_retain_from_adapter_##n, \
   hook_retain_n_##n,    hook_release_##n, hook_release_n_##n, hook_tryRetain_##n},
static const struct hooks hooks[] = {EACH_RUNTIME(HOOKS_ROW)};
_Static_assert(sizeof hooks / sizeof *hooks == LT_SWIFT_RUNTIME_LIMIT, "a row each");

void lt_swift_hooks_install(unsigned number, const struct lt_swift_runtime *r) {
  struct calls *runtime = &runtimes[number];
  const struct hooks *hook = &hooks[number];
  *runtime =
      (struct calls){*r->allocObject, *r->retain, *r->retain_n, *r->release, *r->release_n, *r->tryRetain, r->isHooked};
  originals[number].places = *r;
  originals[number].retainAdapter = r->retainAdapter ? *r->retainAdapter : NULL;
  originals[number].isHooked = *r->isHooked;
  // From here on other threads may use the pointers.
  atomic_thread_fence(memory_order_seq_cst);
  if (r->retainAdapter) *r->retainAdapter = lt_arc_mode == LT_ARC_OFF ? hook->retainOnly : hook->retain;
  else if (!r->retainsDirectly) *r->retain = hook->retainFromAdapter;
  else if (lt_arc_mode != LT_ARC_OFF) *r->retain = hook->retain;
  *r->allocObject = hook->allocObject;
  if (lt_arc_mode == LT_ARC_OFF) return;
  *r->retain_n = hook->retain_n;
  *r->release = hook->release;
  *r->release_n = hook->release_n;
  *r->tryRetain = hook->tryRetain;
  *r->isHooked = 1;
}

void lt_swift_hooks_remove(unsigned number) {
  const struct calls *runtime = &runtimes[number];
  const struct lt_swift_runtime *r = &originals[number].places;
  *r->isHooked = originals[number].isHooked;
  if (r->retainAdapter) *r->retainAdapter = originals[number].retainAdapter;
  *r->allocObject = runtime->allocObject;
  *r->retain = runtime->retain;
  *r->retain_n = runtime->retain_n;
  *r->release = runtime->release;
  *r->release_n = runtime->release_n;
  *r->tryRetain = runtime->tryRetain;
}
