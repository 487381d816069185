// Hooks of the functions that count inside a Swift runtime and are interposed by name, for callers outside of it.
//
// If only one image defines them, the hooks call its functions. If none does yet, or several do, each call is led to
// the runtime of its caller: a function of another one may know another layout.

#define _GNU_SOURCE
#include "hooks/swift_relatives.h"

#include "elf/loaded_image.h"
#include "hooks/swift_recording.h"
#include "os/os.h"
#include "thread/own_stack.h"

#include <string.h>

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
  struct lt_loaded_image callerImage; ///< of no size if it was not found
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

/// A search for the runtime's function that a call is for.
struct question {
  uintptr_t caller;
  unsigned index;
  void *function;
};

/// Finds the function of the runtime that the caller's image was bound to. NULL if no image defines it.
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
  // Without memory for a stack this is as deep as it has to be: the call must be led somewhere.
  if (!lt_on_own_stack(answer_question, &question)) answer_question(&question);
  return question.function;
}

/// Answers, by caller and function. Those of an older generation hold no more: an image has gone since.
struct answer {
  uintptr_t caller;
  uint32_t index, generation;
  void *function;
};
enum { ANSWER_LIMIT = 4096, PLACE_COUNT = 1024 };
static _Atomic(struct answer *) answers, places[PLACE_COUNT];
static _Atomic uint32_t answerCount, generation;

static void *function_for(uintptr_t caller, unsigned index) {
  _Atomic(struct answer *) *place = &places[((caller + index) * LT_HASH_MULTIPLIER) >> 54];
  uint32_t now = atomic_load(&generation);
  struct answer *known = atomic_load_explicit(place, memory_order_acquire);
  if (known && known->caller == caller && known->index == index && known->generation == now) return known->function;
  void *function = find(caller, index);
  struct answer *all = atomic_load(&answers), *made = all ? NULL : lt_map_private(ANSWER_LIMIT * sizeof *made);
  if (made && !atomic_compare_exchange_strong(&answers, &all, made)) lt_unmap(made, ANSWER_LIMIT * sizeof *made);
  else if (made) all = made;
  // Answers are never changed: another thread may be reading them. When there is room for no more, each call asks.
  uint32_t number = all && atomic_load(&answerCount) < ANSWER_LIMIT ? atomic_fetch_add(&answerCount, 1) : ANSWER_LIMIT;
  if (number < ANSWER_LIMIT) {
    all[number] = (struct answer){caller, index, now, function};
    atomic_store_explicit(place, &all[number], memory_order_release);
  }
  return function;
}

/// Returns the caller's address. A hook that called this code as its last act has left the stack; otherwise its frame
/// is the next one out.
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
/// The functions that the hooks call.
static struct functions next = {EACH_FUNCTION(LEADING)};

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
  atomic_fetch_add(&generation, 1);
  next = found;
}

void lt_swift_relatives_unsettle(void) {
  atomic_fetch_add(&generation, 1);
  next = (struct functions) { EACH_FUNCTION(LEADING) };
}

// --- hooks -----------------------------------------------------------------------------------------------------------

#define IS_RECORDED (lt_arc_mode != LT_ARC_OFF)

LT_EXPORT void *LT_HOOK(swift_weakLoadStrong)(void *reference) {
  void *object = next.weakLoadStrong(reference);
  if (IS_RECORDED && IS_COUNTED(object)) RECORD(LT_OP_WEAK_LOAD_STRONG, object);
  return object;
}

LT_EXPORT void *LT_HOOK(swift_weakTakeStrong)(void *reference) {
  void *object = next.weakTakeStrong(reference);
  if (IS_RECORDED && IS_COUNTED(object)) RECORD(LT_OP_WEAK_TAKE_STRONG, object);
  return object;
}

LT_EXPORT void *LT_HOOK(swift_unownedRetainStrong)(void *object) {
  void *result = next.unownedRetainStrong(object);
  if (IS_RECORDED && IS_COUNTED(result)) RECORD(LT_OP_UNOWNED_RETAIN_STRONG, result);
  return result;
}

LT_EXPORT void LT_HOOK(swift_unownedRetainStrongAndRelease)(void *object) {
  next.unownedRetainStrongAndRelease(object);
  if (IS_RECORDED && IS_COUNTED(object)) RECORD(LT_OP_UNOWNED_RETAIN_STRONG_AND_RELEASE, object);
}

LT_EXPORT void *LT_HOOK(swift_unownedRetain)(void *object) {
  if (IS_RECORDED && IS_COUNTED(object)) RECORD(LT_OP_UNOWNED_RETAIN, object);
  return next.unownedRetain(object);
}

LT_EXPORT void LT_HOOK(swift_unownedRelease)(void *object) {
  if (IS_RECORDED && IS_COUNTED(object)) RECORD(LT_OP_UNOWNED_RELEASE, object);
  next.unownedRelease(object);
}

LT_EXPORT void *LT_HOOK(swift_nonatomic_retain)(void *object) {
  if (IS_RECORDED && IS_COUNTED(object)) RECORD(LT_OP_NONATOMIC_RETAIN, object);
  return next.nonatomicRetain(object);
}

LT_EXPORT void *LT_HOOK(swift_nonatomic_retain_n)(void *object, uint32_t count) {
  if (IS_RECORDED && IS_COUNTED(object)) RECORD_COUNT(LT_OP_NONATOMIC_RETAIN_N, object, count);
  return next.nonatomicRetainN(object, count);
}

LT_EXPORT void LT_HOOK(swift_nonatomic_release)(void *object) {
  if (IS_RECORDED && IS_COUNTED(object)) RECORD(LT_OP_NONATOMIC_RELEASE, object);
  next.nonatomicRelease(object);
}

LT_EXPORT void LT_HOOK(swift_nonatomic_release_n)(void *object, uint32_t count) {
  if (IS_RECORDED && IS_COUNTED(object)) RECORD_COUNT(LT_OP_NONATOMIC_RELEASE_N, object, count);
  next.nonatomicReleaseN(object, count);
}
