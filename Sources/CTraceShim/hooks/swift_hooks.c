// Hooks of Swift runtimes: through their pointers, and by the names of their functions.

#define _GNU_SOURCE
#include "hooks/swift_hooks.h"

#include "elf/elf_image.h"
#include "hooks/hook.h"
#include "os/os.h"
#include "os/thread_barrier.h"
#include "process/lifecycle.h"
#include "record/trace_file.h"
#include "swift/swift_runtime.h"
#include "thread/thread_state.h"

#include <string.h>

// === the runtime's pointers ==========================================================================================

// Hooks in the Swift runtime's pointers. They guard, call and record, and do nothing else.
//
// A release is recorded before it happens, because it may free the object. A retain is recorded before it happens, too.
// This is safe, since the caller holds the object. In this order, the hook can tail-call the runtime. A call that may
// fail is recorded after it has succeeded.
//
// A process may have several runtimes. Each runtime has its own pointers, and so gets its own hooks, which call that
// runtime's functions.

/// The number of runtimes that can be hooked at a time. Each one needs its own set of hooks in the code.
enum { LT_SWIFT_RUNTIME_LIMIT = 8 };

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
/// For each runtime, the addresses of its pointers, and the original values that `struct calls` does not have.
static struct {
  struct lt_swift_runtime places;
  void *(*retainAdapter)(void *);
  uint8_t isHooked;
} originals[LT_SWIFT_RUNTIME_LIMIT];

static void lt_swift_hooks_remove(unsigned number);

static LT_ALWAYS_INLINE void *allocate(const struct calls *runtime, const void *metadata, size_t size,
                                       size_t alignMask) {
  // When the runtime sees this hook, it turns all its hooks on. If retains and releases are not recorded, turn the
  // hooks off again, so that the runtime uses its fast paths.
  if (lt_arc_mode == LT_ARC_OFF) {
    *runtime->isHookedByte = 0;
    if (lt_sample_period) {
      // The recorder has switched to sampling, and no longer needs the hooks. The runtime is still loaded, since it
      // made this call.
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
    lt_forget_scratch();
  }
  return object;
}

static LT_ALWAYS_INLINE void *record_and_retain(const struct calls *runtime, void *object) {
  if (!IS_COUNTED(object)) return object;
  RECORD(LT_OP_RETAIN, object);
  runtime->retain(OBJECT(object));
  return object;
}

/// Does the work of the runtime's adapter, and corrects an error of the adapter: it clears the marks of a small string
/// before it checks for a pointer.
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
/// reference before a hook can see whether the reference was a pointer.
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

/// Stores a word that the runtime loads plainly. Release: comes after all earlier stores.
#define PUBLISH(place, value) __atomic_store_n((place), (value), __ATOMIC_RELEASE)

/// Puts the set of hooks `number` into a runtime's pointers. `number` is below LT_SWIFT_RUNTIME_LIMIT. `lt_arc_mode`
/// decides whether retains and releases are hooked.
static void lt_swift_hooks_install(unsigned number, const struct lt_swift_runtime *r) {
  struct calls *runtime = &runtimes[number];
  const struct hooks *hook = &hooks[number];
  *runtime =
      (struct calls){*r->allocObject, *r->retain, *r->retain_n, *r->release, *r->release_n, *r->tryRetain, r->isHooked};
  originals[number].places = *r;
  originals[number].retainAdapter = r->retainAdapter ? *r->retainAdapter : NULL;
  originals[number].isHooked = *r->isHooked;
  // From here on other threads may use the pointers. They load a pointer, and then `runtimes`, without an order.
  if (LT_KEEPS_LOAD_ORDER) atomic_thread_fence(memory_order_seq_cst);
  else lt_order_threads();
  if (r->retainAdapter) PUBLISH(r->retainAdapter, lt_arc_mode == LT_ARC_OFF ? hook->retainOnly : hook->retain);
  else if (!r->retainsDirectly) PUBLISH(r->retain, hook->retainFromAdapter);
  else if (lt_arc_mode != LT_ARC_OFF) PUBLISH(r->retain, hook->retain);
  PUBLISH(r->allocObject, hook->allocObject);
  if (lt_arc_mode == LT_ARC_OFF) return;
  PUBLISH(r->retain_n, hook->retain_n);
  PUBLISH(r->release, hook->release);
  PUBLISH(r->release_n, hook->release_n);
  PUBLISH(r->tryRetain, hook->tryRetain);
  PUBLISH(r->isHooked, 1);
}

/// Restores the pointers of the runtime that has the set of hooks `number`. Threads may still be inside the hooks.
static void lt_swift_hooks_remove(unsigned number) {
  const struct calls *runtime = &runtimes[number];
  const struct lt_swift_runtime *r = &originals[number].places;
  PUBLISH(r->isHooked, originals[number].isHooked);
  if (r->retainAdapter) PUBLISH(r->retainAdapter, originals[number].retainAdapter);
  PUBLISH(r->allocObject, runtime->allocObject);
  PUBLISH(r->retain, runtime->retain);
  PUBLISH(r->retain_n, runtime->retain_n);
  PUBLISH(r->release, runtime->release);
  PUBLISH(r->release_n, runtime->release_n);
  PUBLISH(r->tryRetain, runtime->tryRetain);
}

// === runtimes ========================================================================================================

// Assigns the sets of hooks to runtimes.

/// For each set of hooks, the addresses of its runtime's image; `end` is 0 if the set is free. Only one thread at a
/// time changes this: before hooks are on, under the loader's lock, or while it refreshes the list of images.
static struct { uintptr_t start, end; } hooked[LT_SWIFT_RUNTIME_LIMIT];

void lt_swift_runtimes_hook(const struct lt_loaded_image *image, const struct lt_swift_runtime *runtime) {
  unsigned free = LT_SWIFT_RUNTIME_LIMIT;
  for (unsigned i = LT_SWIFT_RUNTIME_LIMIT; i-- > 0;) {
    if (hooked[i].end && hooked[i].start == image->start) return;
    if (!hooked[i].end) free = i;
  }
  if (free == LT_SWIFT_RUNTIME_LIMIT) {
    lt_process_warn("Swift objects are not seen, only malloc: too many Swift runtimes are loaded already, before ",
                    image->path);
    return;
  }
  // When sampling, objects are found in memory, and the runtime is not hooked.
  if (lt_sample_period) {
    lt_process_note_swift(runtime->isLinkedIn);
    return;
  }
  hooked[free].start = image->start;
  hooked[free].end = image->end;
  lt_swift_hooks_install(free, runtime);
  lt_process_note_swift(runtime->isLinkedIn);
}

void lt_swift_runtimes_refuse(const struct lt_loaded_image *image, enum lt_swift_search reason) {
  const char *path = image->isExecutable ? NULL : image->path;
  if (reason == LT_SWIFT_STRIPPED && !path)
    lt_process_warn("Swift objects are not seen, only malloc: the program has the Swift runtime inside it and was "
                    "stripped. Trace the unstripped program.",
                    NULL);
  else if (reason == LT_SWIFT_STRIPPED)
    lt_process_warn("Swift objects of a library are not seen, only malloc: it has the Swift runtime inside it and was "
                    "stripped. Load the unstripped library: ",
                    path);
  else if (reason == LT_SWIFT_UNKNOWN)
    lt_process_warn("Swift objects are not seen, only malloc: this version of the Swift runtime has none of the hooks "
                    "that are known here",
                    path);
}

void lt_swift_runtimes_forget(uintptr_t start, uintptr_t end) {
  for (unsigned i = 0; i < LT_SWIFT_RUNTIME_LIMIT; i++)
    if (hooked[i].end && hooked[i].start >= start && hooked[i].start < end) hooked[i].start = hooked[i].end = 0;
}

void lt_swift_runtimes_unhook(void) {
  for (unsigned i = 0; i < LT_SWIFT_RUNTIME_LIMIT; i++) {
    if (!hooked[i].end) continue;
    lt_swift_hooks_remove(i);
    hooked[i].start = hooked[i].end = 0;
  }
}

// === interposed functions ============================================================================================

// Hooks of a Swift runtime's reference-counting functions that are interposed by name. They see calls from outside of
// the runtime.
//
// If exactly one image defines these functions, the hooks call that image's functions. If no image does yet, or several
// do, each call is passed to the runtime of its caller. The functions of another runtime may expect another layout of
// objects.

/// One row for each function: result, name here, name in the runtime, parameters, arguments.
#define EACH_FUNCTION(X)                                                                                 \
  X(void *, weakLoadStrong, swift_weakLoadStrong, (void *reference), (reference))                        \
  X(void *, weakTakeStrong, swift_weakTakeStrong, (void *reference), (reference))                        \
  X(void *, unownedRetainStrong, swift_unownedRetainStrong, (void *object), (object))                    \
  X(void, unownedRetainStrongAndRelease, swift_unownedRetainStrongAndRelease, (void *object), (object))  \
  X(void *, unownedRetain, swift_unownedRetain, (void *object), (object))                                \
  X(void, unownedRelease, swift_unownedRelease, (void *object), (object))                                \
  X(void *, nonatomicRetain, swift_nonatomic_retain, (void *object), (object))                           \
  X(void *, nonatomicRetainN, swift_nonatomic_retain_n, (void *object, uint32_t count), (object, count)) \
  X(void, nonatomicRelease, swift_nonatomic_release, (void *object), (object))                           \
  X(void, nonatomicReleaseN, swift_nonatomic_release_n, (void *object, uint32_t count), (object, count))

#define FIELD(result, name, symbol, parameters, arguments) result(*name) parameters;
struct functions {
  EACH_FUNCTION(FIELD)
};
#define INDEX(result, name, symbol, parameters, arguments) INDEX_##name,
enum { EACH_FUNCTION(INDEX) FUNCTION_COUNT };
#define SYMBOL(result, name, symbol, parameters, arguments) #symbol,
static const char *const symbolNames[FUNCTION_COUNT] = {EACH_FUNCTION(SYMBOL)};

// --- the image of a caller's functions -------------------------------------------------------------------------------

enum { DEFINITION_LIMIT = 16 };
struct search {
  const char *symbol;
  uintptr_t caller;
  struct lt_loaded_image callerImage; ///< `end` is 0 if it was not found
  struct definition {
    uintptr_t start, end, address;
  } definitions[DEFINITION_LIMIT];
  uint32_t count;
};

static int look_at_image(struct dl_phdr_info *info, size_t size, void *context) {
  (void)size;
  struct search *search = context;
  struct lt_loaded_image image;
  struct lt_symbol found;
  if (!lt_loaded_image_from_info(info, &image)) return 0;
  if (lt_loaded_image_covers(&image, search->caller)) search->callerImage = image;
  if (search->count == DEFINITION_LIMIT || !lt_loaded_image_symbol(&image, search->symbol, &found) ||
      lt_is_own_address(found.address))
    return 0;
  search->definitions[search->count++] = (struct definition){image.start, image.end, found.address};
  return 0;
}

/// A search for the function of a runtime that a hook must call.
struct question {
  uintptr_t caller;
  unsigned index;
  void *function;
};

/// Finds the function that a hook must call. Prefers a definition in the caller's image, then one in an image that the
/// caller's image refers to, then the first definition. NULL if no image defines the function.
static void *search_images(uintptr_t caller, unsigned index) {
  struct search search = {.symbol = symbolNames[index], .caller = caller};
  dl_iterate_phdr(look_at_image, &search);
  for (uint32_t i = 0; i < search.count; i++)
    if (caller >= search.definitions[i].start && caller < search.definitions[i].end)
      return (void *)search.definitions[i].address;
  for (uint32_t i = 0; i < search.count && search.count > 1 && search.callerImage.end; i++)
    if (lt_loaded_image_refers(&search.callerImage, search.definitions[i].start, search.definitions[i].end))
      return (void *)search.definitions[i].address;
  return search.count ? (void *)search.definitions[0].address : NULL;
}

static void answer_question(void *question) {
  struct question *q = question;
  q->function = search_images(q->caller, q->index);
}

static void *find(uintptr_t caller, unsigned index) {
  struct question question = {caller, index, NULL};
  // If there is no memory for a stack, search on the caller's stack, because the call must be passed on in any case.
  if (!lt_on_own_stack(answer_question, &question)) answer_question(&question);
  return question.function;
}

/// The result of a search, by caller and function. An answer of an older generation is no longer valid: images have
/// been loaded or unloaded since.
struct answer {
  uintptr_t caller;
  uint32_t index, generation;
  void *function;
};
enum { ANSWER_LIMIT = 4096, PLACE_COUNT = 1024 };
static struct {
  _Atomic(struct answer *) all, places[PLACE_COUNT]; ///< an entry is written before its place gets its address
  /// `count` gives out entries. `generation` changes before `next` does, and after the loader has changed its list
  _Atomic uint32_t count, generation;
} answers;

static void *function_for(uintptr_t caller, unsigned index) {
  _Atomic(struct answer *) *place = &answers.places[((caller + index) * LT_HASH_MULTIPLIER) >> 54];
  uint32_t now = atomic_load(&answers.generation);
  // Acquire: pairs with the release below.
  struct answer *known = atomic_load_explicit(place, memory_order_acquire);
  if (known && known->caller == caller && known->index == index && known->generation == now) return known->function;
  void *function = find(caller, index);
  struct answer *all = atomic_load(&answers.all), *made = all ? NULL : lt_map_private(ANSWER_LIMIT * sizeof *made);
  if (made && !atomic_compare_exchange_strong(&answers.all, &all, made)) lt_unmap(made, ANSWER_LIMIT * sizeof *made);
  else if (made) all = made;
  // Answers are never changed: another thread may be reading them. When the table is full, each call without an answer
  // searches again.
  uint32_t number =
      all && atomic_load(&answers.count) < ANSWER_LIMIT ? atomic_fetch_add(&answers.count, 1) : ANSWER_LIMIT;
  if (number < ANSWER_LIMIT) {
    all[number] = (struct answer){caller, index, now, function};
    // Release: pairs with the acquire above.
    atomic_store_explicit(place, &all[number], memory_order_release);
  }
  return function;
}

/// Returns the return address of the hook that called this code. If the hook tail-called this code, its frame has left
/// the stack. Otherwise the hook's frame is the next one out.
static LT_ALWAYS_INLINE uintptr_t caller_of_hook(const uintptr_t *frame) {
  if (!lt_is_own_address(frame[1])) return frame[1];
  return ((const uintptr_t *)frame[0])[1];
}

#define LEAD(result, name, symbol, parameters, arguments)                                    \
  static LT_NOINLINE result lead_##name parameters {                                         \
    void *function = function_for(caller_of_hook(__builtin_frame_address(0)), INDEX_##name); \
    if (!function) return (result)0;                                                         \
    return ((__typeof__(&lead_##name))function)arguments;                                    \
  }
EACH_FUNCTION(LEAD)

#define LEADING(result, name, symbol, parameters, arguments) .name = lead_##name,
/// The functions that the hooks call. A hook loads one pointer plainly. Every value that it can find there is valid, so
/// the load needs no order.
static struct functions next = {EACH_FUNCTION(LEADING)};

/// Replaces the pointers one by one, since hooks may be loading them.
static void set_next(const struct functions *found) {
#define SET_NEXT(result, name, symbol, parameters, arguments) PUBLISH(&next.name, found->name);
  EACH_FUNCTION(SET_NEXT)
#undef SET_NEXT
}

/// The number of images that define such functions, and the functions of the first.
struct definers {
  uint32_t count;
  void *functions[FUNCTION_COUNT]; ///< of the first
};
_Static_assert(sizeof(struct functions) == FUNCTION_COUNT * sizeof(void *), "pointers, in one order");

static int look_at_definer(struct dl_phdr_info *info, size_t size, void *context) {
  (void)size;
  struct definers *definers = context;
  struct lt_loaded_image image;
  struct lt_symbol found;
  if (!lt_loaded_image_from_info(info, &image) || !lt_loaded_image_symbol(&image, symbolNames[0], &found) ||
      lt_is_own_address(found.address))
    return 0;
  if (definers->count++ > 0) return 1;
  for (unsigned i = 0; i < FUNCTION_COUNT; i++)
    if (lt_loaded_image_symbol(&image, symbolNames[i], &found)) definers->functions[i] = (void *)found.address;
  return 0;
}

void lt_swift_relatives_settle(void) {
  struct functions found = { EACH_FUNCTION(LEADING) };
  struct definers definers = {0};
  dl_iterate_phdr(look_at_definer, &definers);
  bool isWhole = definers.count == 1;
  for (unsigned i = 0; i < FUNCTION_COUNT; i++) isWhole &= definers.functions[i] != NULL;
  if (isWhole) memcpy(&found, definers.functions, sizeof found);
  atomic_fetch_add(&answers.generation, 1);
  set_next(&found);
}

void lt_swift_relatives_unsettle(void) {
  atomic_fetch_add(&answers.generation, 1);
  set_next(&(struct functions) { EACH_FUNCTION(LEADING) });
}

// --- hooks -----------------------------------------------------------------------------------------------------------

#define IS_RECORDED (lt_arc_mode != LT_ARC_OFF)

LT_EXPORT void *lt_hook_swift_weakLoadStrong(void *reference) {
  void *object = next.weakLoadStrong(reference);
  if (IS_RECORDED && IS_COUNTED(object)) RECORD(LT_OP_WEAK_LOAD_STRONG, object);
  return object;
}

LT_EXPORT void *lt_hook_swift_weakTakeStrong(void *reference) {
  void *object = next.weakTakeStrong(reference);
  if (IS_RECORDED && IS_COUNTED(object)) RECORD(LT_OP_WEAK_TAKE_STRONG, object);
  return object;
}

LT_EXPORT void *lt_hook_swift_unownedRetainStrong(void *object) {
  void *result = next.unownedRetainStrong(object);
  if (IS_RECORDED && IS_COUNTED(result)) RECORD(LT_OP_UNOWNED_RETAIN_STRONG, result);
  return result;
}

LT_EXPORT void lt_hook_swift_unownedRetainStrongAndRelease(void *object) {
  next.unownedRetainStrongAndRelease(object);
  if (IS_RECORDED && IS_COUNTED(object)) RECORD(LT_OP_UNOWNED_RETAIN_STRONG_AND_RELEASE, object);
}

LT_EXPORT void *lt_hook_swift_unownedRetain(void *object) {
  if (IS_RECORDED && IS_COUNTED(object)) RECORD(LT_OP_UNOWNED_RETAIN, object);
  return next.unownedRetain(object);
}

LT_EXPORT void lt_hook_swift_unownedRelease(void *object) {
  if (IS_RECORDED && IS_COUNTED(object)) RECORD(LT_OP_UNOWNED_RELEASE, object);
  next.unownedRelease(object);
}

LT_EXPORT void *lt_hook_swift_nonatomic_retain(void *object) {
  if (IS_RECORDED && IS_COUNTED(object)) RECORD(LT_OP_NONATOMIC_RETAIN, object);
  return next.nonatomicRetain(object);
}

LT_EXPORT void *lt_hook_swift_nonatomic_retain_n(void *object, uint32_t count) {
  if (IS_RECORDED && IS_COUNTED(object)) RECORD_COUNT(LT_OP_NONATOMIC_RETAIN_N, object, count);
  return next.nonatomicRetainN(object, count);
}

LT_EXPORT void lt_hook_swift_nonatomic_release(void *object) {
  if (IS_RECORDED && IS_COUNTED(object)) RECORD(LT_OP_NONATOMIC_RELEASE, object);
  next.nonatomicRelease(object);
}

LT_EXPORT void lt_hook_swift_nonatomic_release_n(void *object, uint32_t count) {
  if (IS_RECORDED && IS_COUNTED(object)) RECORD_COUNT(LT_OP_NONATOMIC_RELEASE_N, object, count);
  next.nonatomicReleaseN(object, count);
}
