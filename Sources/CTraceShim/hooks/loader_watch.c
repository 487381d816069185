// Notices when the loader adds and removes images and namespaces, and when an image's initialisers begin.

#define _GNU_SOURCE
#include "hooks/loader_watch.h"

#include "check.h"
#include "elf/elf_image.h"
#include "hooks/hook.h"
#include "hooks/malloc_hooks.h"
#include "hooks/swift_hooks.h"
#include "hooks/table_binding.h"
#include "image/thread_stop.h"
#include "os/os.h"
#include "os/thread_barrier.h"
#include "process/lifecycle.h"
#include "process/thread_entry.h"
#include "record/definitions.h"

#include <fcntl.h>
#include <string.h>
#include <sys/auxv.h>

// === initialisers ====================================================================================================

// Makes the loader call a function before an image's initialisers.
//
// Between the mapping of an image and its relocation, the image's dynamic section can be changed. Later, this section
// tells the loader the first function to call: the one at DT_INIT, or at DT_INIT_ARRAY if there is no DT_INIT. Both
// hold addresses relative to the image, but the addresses may lead outside of it.

enum { LT_DETOUR_LIMIT = 64 };

// There must be LT_DETOUR_LIMIT entries.
LT_DEFINE_INITIALIZER_ENTRIES(lt_initializer_entries, 64, lt_initializer_reached);
_Static_assert(LT_DETOUR_LIMIT == 64, "entries");

typedef void initializer(int, char **, char **);

/// The detours. Changed only under the loader's lock.
static struct detour {
  bool isUsed; ///< all other members are set; `isNext` is not NULL
  void (*isNext)(void);
  initializer *original; ///< the function at DT_INIT
  initializer **array;   ///< replaces the image's array: the entry, then the functions of the image's array
  const void *imageArray;
  size_t count; ///< number of functions in the image's array
} detours[LT_DETOUR_LIMIT];

/// Replaces the image's DT_INIT_ARRAY by an array that has one more function, at its beginning. The image's own
/// functions are known only after its relocation, so they are filled in when the first function is called.
static bool replace_array(const struct lt_loaded_image *image, struct detour *detour, uintptr_t entry) {
  ElfW(Dyn) *array = lt_loaded_image_entry(image, DT_INIT_ARRAY), *size = lt_loaded_image_entry(image, DT_INIT_ARRAYSZ);
  if (!array || !size || !lt_loaded_image_is_writable(image, (uintptr_t)array) ||
      !lt_loaded_image_is_writable(image, (uintptr_t)size))
    return false;
  detour->count = size->d_un.d_val / sizeof *detour->array;
  detour->imageArray = (const void *)(image->bias + array->d_un.d_ptr);
  detour->array = lt_map_private((detour->count + 1) * sizeof *detour->array);
  if (!detour->array) return false;
  detour->array[0] = (initializer *)entry;
  array->d_un.d_ptr = (uintptr_t)detour->array - image->bias;
  size->d_un.d_val += sizeof *detour->array;
  return true;
}

/// Makes the loader call `isNext` after it has relocated the image and before any code of the image runs. The thread
/// that is about to initialise the image makes this call, with the loader's lock held. The image must not be relocated
/// yet. Returns the detour's number, which is below LT_DETOUR_LIMIT. The number is valid until lt_initializer_forget.
/// Returns −1 if the image cannot be changed, or if all detours are used.
static int lt_initializer_detour(const struct lt_loaded_image *image, void (*isNext)(void)) {
  LT_CHECK(isNext && image->bias <= image->start);
  for (int number = 0; number < LT_DETOUR_LIMIT; number++) {
    struct detour *detour = &detours[number];
    if (detour->isUsed) continue;
    *detour = (struct detour){.isUsed = true, .isNext = isNext};
    uintptr_t entry = (uintptr_t)lt_initializer_entries + (uintptr_t)number * LT_INITIALIZER_ENTRY_SIZE;
    ElfW(Dyn) *init = lt_loaded_image_entry(image, DT_INIT);
    if (init && lt_loaded_image_is_writable(image, (uintptr_t)init)) {
      detour->original = (initializer *)(image->bias + init->d_un.d_ptr);
      init->d_un.d_ptr = entry - image->bias;
      return number;
    }
    if (!init && replace_array(image, detour, entry)) return number;
    detour->isUsed = false;
    return -1;
  }
  return -1;
}

/// Frees the detour of an image that was unloaded. The image may or may not have been initialised.
static void lt_initializer_forget(int number) {
  LT_CHECK(number >= 0 && number < LT_DETOUR_LIMIT && detours[number].isUsed);
  struct detour *detour = &detours[number];
  if (detour->array) lt_unmap(detour->array, (detour->count + 1) * sizeof *detour->array);
  *detour = (struct detour){0};
}

static initializer *lt_initializer_reached(uintptr_t place) __attribute__((used));
static initializer *lt_initializer_reached(uintptr_t place) {
  int number = (int)((place - (uintptr_t)lt_initializer_entries) / LT_INITIALIZER_ENTRY_SIZE);
  struct detour *detour = &detours[number];
  LT_CHECK(number >= 0 && number < LT_DETOUR_LIMIT && detour->isUsed && detour->isNext);
  if (detour->array) memcpy(detour->array + 1, detour->imageArray, detour->count * sizeof *detour->array);
  initializer *original = detour->original;
  detour->isNext();
  return original;
}

// === loader ==========================================================================================================

// Finds Swift runtimes before any code can use them, however they are loaded, in any namespace.
//
// The loader has an empty function for debuggers to stop at (`r_brk` of <link.h>). It calls that function when it
// begins to change its list of images, and when the change is complete. The loader holds its lock during the call. The
// call comes before the relocation of the new images (glibc 2.35 to 2.40), or after it (2.41). It always comes before
// their initialisation. This file patches the empty function with a jump to lt_loader_at_rendezvous. If that fails,
// images are examined when their code first appears on a stack, mostly when they allocate from an initialiser.

/// A copy of struct r_debug_extended from glibc 2.35's <link.h>. The loader has one for each namespace.
struct rendezvous {
  struct r_debug base;
  struct rendezvous *next; ///< from version 2 on
};

/// Returns the namespace after `space`, or NULL. The loader's list keeps namespaces that have become empty.
static const struct rendezvous *next_space(const struct rendezvous *space) {
  return space->base.r_version > 1 ? space->next : NULL;
}

// --- the images that are known ---------------------------------------------------------------------------------------

enum { IMAGE_LIMIT = 1 << 14 };
struct image {
  const struct link_map *map;
  uintptr_t bias;
  const void *dynamic;
  const struct rendezvous *space;
  uintptr_t start, end;
  bool isBound;                    ///< its references lead to the hooks of its namespace
  bool hasTasks;                   ///< it contains a concurrency runtime in the program's namespace, whose task memory
                                   ///< must be bound
  struct lt_swift_runtime runtime; ///< to be hooked when the image is initialised; without `retain` if there is none
  int detour;                      ///< −1 if there is none
  uint32_t pass;                   ///< value of `watch.passes` when the image was last found in the loader's list
};
static struct {
  struct rendezvous *loader;
  bool isOn, isPatched;
  bool bindsTables;    ///< whether tables in the program's namespace are bound
  _Atomic bool isOver; ///< needs no order: an event that has begun may go on
  struct image *images;
  uint32_t imageCount, passes;                         ///< at most IMAGE_LIMIT images; the loader's lock guards both
  const struct rendezvous *spaces[LT_NAMESPACE_LIMIT]; ///< the namespaces with a Swift runtime
} watch;

static struct image *known(const struct link_map *map, uint32_t *hint) {
  LT_CHECK(watch.images && watch.imageCount <= IMAGE_LIMIT);
  // Start at the hint, because the images are mostly in the loader's order.
  for (uint32_t k = 0; k < watch.imageCount; k++) {
    uint32_t i = (*hint + k) % watch.imageCount;
    if (watch.images[i].map != map || watch.images[i].bias != map->l_addr || watch.images[i].dynamic != map->l_ld)
      continue;
    *hint = i + 1;
    return &watch.images[i];
  }
  return NULL;
}

static struct image *keep(const struct link_map *map, const struct rendezvous *space) {
  if (watch.imageCount == IMAGE_LIMIT) return NULL;
  struct image *image = &watch.images[watch.imageCount++];
  LT_CHECK(watch.imageCount <= IMAGE_LIMIT && map);
  *image = (struct image){.map = map, .bias = map->l_addr, .dynamic = map->l_ld, .space = space, .detour = -1};
  return image;
}

// --- other namespaces ------------------------------------------------------------------------------------------------
//
// Each other namespace has its own C library, so calls of malloc there do not reach the preloaded hooks. If the
// allocations of a namespace's objects are recorded, then the frees of these objects must be recorded, too. The same is
// true for other memory of the namespace, which may hold the objects.

enum { SPACE_IMAGE_LIMIT = 1024 };

static bool is_programs(const struct rendezvous *space) { return space == watch.loader; }

/// True if the image is in the program's namespace, too. The loader itself is in every namespace.
static bool is_also_programs(const struct image *image) {
  for (uint32_t i = 0; i < watch.imageCount; i++)
    if (is_programs(watch.images[i].space) && watch.images[i].bias == image->bias) return true;
  return false;
}

static int number_of(const struct rendezvous *space) {
  for (int i = 0; i < LT_NAMESPACE_LIMIT; i++)
    if (watch.spaces[i] == space) return i;
  return -1;
}

/// Prepares to hook the malloc family of a namespace that has a Swift runtime. False if that is not possible.
static bool take(const struct rendezvous *space) {
  if (is_programs(space) || number_of(space) >= 0) return true;
  int number = number_of(NULL);
  struct lt_loaded_image *all = number < 0 ? NULL : lt_map_private(SPACE_IMAGE_LIMIT * sizeof *all);
  if (!all) return false;
  uint32_t count = 0;
  LT_CHECK(number >= 0 && number < LT_NAMESPACE_LIMIT && !watch.spaces[number]);
  for (const struct link_map *map = space->base.r_map; map && count < SPACE_IMAGE_LIMIT; map = map->l_next)
    count += lt_loaded_image_from_map(map, &all[count]);
  LT_CHECK(count <= SPACE_IMAGE_LIMIT);
  bool isFound = lt_namespace_malloc_find((unsigned)number, all, count);
  lt_unmap(all, SPACE_IMAGE_LIMIT * sizeof *all);
  if (isFound) watch.spaces[number] = space;
  // As in lt_loader_watch_begin: the hooks of the namespace use the functions that were found.
  if (isFound && !LT_KEEPS_LOAD_ORDER) lt_order_threads();
  return isFound;
}

/// Binds those images of a namespace that are relocated and not bound yet.
static void bind(const struct rendezvous *space) {
  int number = number_of(space);
  LT_CHECK(number < LT_NAMESPACE_LIMIT);
  bool isProgram = is_programs(space) && watch.bindsTables;
  for (uint32_t i = 0; i < watch.imageCount && (number >= 0 || isProgram); i++) {
    struct lt_loaded_image image;
    if (watch.images[i].space != space || watch.images[i].isBound || (!isProgram && is_also_programs(&watch.images[i])))
      continue;
    if (!lt_loaded_image_from_map(watch.images[i].map, &image) || !lt_loaded_image_is_relocated(&image)) continue;
    watch.images[i].isBound = true;
    if (isProgram) {
      lt_table_binding_bind(&image);
      continue;
    }
    if (lt_task_memory_has_runtime(&image, &watch.images[i].runtime)) lt_task_memory_learn(&image);
    lt_namespace_malloc_bind((unsigned)number, &image);
  }
}

static void forget_empty_spaces(void) {
  for (int i = 0; i < LT_NAMESPACE_LIMIT; i++)
    if (watch.spaces[i] && !watch.spaces[i]->base.r_map) watch.spaces[i] = NULL;
}

/// Calls `look` for images of other namespaces. The information passed to `look` lacks thread-local variables.
static void show_elsewhere(int (*look)(struct dl_phdr_info *, size_t, void *), size_t size, void *context) {
  for (const struct rendezvous *space = next_space(watch.loader); space; space = next_space(space)) {
    for (const struct link_map *map = space->base.r_map; map; map = map->l_next) {
      struct lt_loaded_image image;
      if (!lt_loaded_image_from_map(map, &image)) continue;
      struct dl_phdr_info info = {.dlpi_addr = image.bias,
                                  .dlpi_name = image.path,
                                  .dlpi_phdr = image.programHeaders,
                                  .dlpi_phnum = (ElfW(Half))image.programHeaderCount};
      look(&info, size, context);
    }
  }
}

// --- images that come and go -----------------------------------------------------------------------------------------

/// Searches the image for a runtime, and stores it in `runtime`. Hooks the runtime if the image is relocated. Returns
/// true if the image is not relocated, so that the runtime must be hooked later.
static bool is_left_for_later(const struct lt_loaded_image *image, struct lt_swift_runtime *runtime) {
  enum lt_swift_search result = lt_swift_runtime_find(image, runtime);
  bool isFound = result == LT_SWIFT_FOUND, hasTasks = lt_task_memory_has_runtime(image, isFound ? runtime : NULL);
  if (hasTasks && !lt_loaded_image_is_relocated(image)) return true;
  if (isFound && !lt_swift_runtime_is_relocated(image, runtime)) return true;
  if (hasTasks) lt_task_memory_bind(image);
  if (isFound) lt_swift_runtimes_hook(image, runtime);
  else lt_swift_runtimes_refuse(image, result);
  return false;
}

/// Examines a new image that the loader is working on.
static void look_at(struct image *known) {
  struct lt_loaded_image image;
  if (!lt_loaded_image_from_map(known->map, &image)) return;
  LT_CHECK(known->detour == -1 && image.start < image.end);
  known->start = image.start;
  known->end = image.end;
  enum lt_swift_search result = lt_swift_runtime_find(&image, &known->runtime);
  if (result != LT_SWIFT_FOUND) {
    known->runtime.retain = NULL;
    lt_swift_runtimes_refuse(&image, result);
  } else if (!take(known->space)) {
    known->runtime.retain = NULL;
    lt_swift_runtimes_refuse(&image, LT_SWIFT_UNKNOWN);
  }
  known->hasTasks = is_programs(known->space) && lt_task_memory_has_runtime(&image, &known->runtime);
  // In other namespaces, no function is interposed by name.
  known->runtime.isLinkedIn |= !is_programs(known->space);
}

/// Binds and hooks the new images. All images that were loaded together are relocated before the first is initialised.
static void finish(void) {
  if (atomic_load_explicit(&watch.isOver, memory_order_relaxed)) return;
  // Bind the tables first: lt_task_memory_bind then changes the malloc references of a concurrency runtime.
  bind(watch.loader);
  for (uint32_t i = 0; i < watch.imageCount; i++) {
    struct lt_loaded_image image;
    if ((!watch.images[i].runtime.retain && !watch.images[i].hasTasks) ||
        !lt_loaded_image_from_map(watch.images[i].map, &image))
      continue;
    if (watch.images[i].hasTasks && lt_loaded_image_is_relocated(&image)) {
      lt_task_memory_bind(&image);
      watch.images[i].hasTasks = false;
    }
    if (!watch.images[i].runtime.retain) continue;
    if (!lt_swift_runtime_is_relocated(&image, &watch.images[i].runtime)) continue;
    bind(watch.images[i].space);
    lt_swift_runtimes_hook(&image, &watch.images[i].runtime);
    watch.images[i].runtime.retain = NULL;
  }
  for (int i = 0; i < LT_NAMESPACE_LIMIT; i++)
    if (watch.spaces[i]) bind(watch.spaces[i]);
}

/// Prepares a new image, after all new images have been examined. If the image needs work after its relocation,
/// arranges that `finish` runs before the first of the new images is initialised. False if the image is already
/// relocated.
static bool prepare(struct image *known) {
  bool isToBeBound = is_programs(known->space) ? watch.bindsTables && !known->isBound
                                               : number_of(known->space) >= 0 && !is_also_programs(known);
  struct lt_loaded_image image;
  if ((!known->runtime.retain && !isToBeBound && !known->hasTasks) || !lt_loaded_image_from_map(known->map, &image))
    return true;
  if (lt_loaded_image_is_relocated(&image)) return false;
  known->detour = lt_initializer_detour(&image, finish);
  LT_CHECK(known->detour >= -1 && known->detour < LT_DETOUR_LIMIT);
  if (known->detour < 0 && known->runtime.retain) lt_swift_runtimes_refuse(&image, LT_SWIFT_UNKNOWN);
  return true;
}

static void refresh(void) {
  lt_swift_relatives_settle();
  struct lt_thread *t = lt_enter();
  if (!t) return;
  lt_image_list_refresh(t);
  lt_leave();
}

static void went(uintptr_t start, uintptr_t end) {
  lt_swift_runtimes_forget(start, end);
  lt_task_memory_forget(start, end);
  lt_table_binding_forget(start, end);
  lt_type_table_forget(start, end);
}

static void forget_what_went(void) {
  for (uint32_t i = 0; i < watch.imageCount;) {
    struct image *image = &watch.images[i];
    LT_CHECK(image->pass <= watch.passes);
    if (image->pass == watch.passes) {
      i++;
      continue;
    }
    if (image->detour >= 0) lt_initializer_forget(image->detour);
    went(image->start, image->end);
    *image = watch.images[--watch.imageCount];
  }
  forget_empty_spaces();
}

void lt_loader_watch_end(void) { atomic_store(&watch.isOver, true); }

void lt_loader_watch_undo(void) {
  lt_swift_runtimes_unhook();
  lt_task_memory_forget(0, UINTPTR_MAX);
  lt_table_binding_undo();
}

/// Called by the loader when its list of images changes, with the loader's lock held.
static void lt_on_loader_event(void) __attribute__((used));
static void lt_on_loader_event(void) {
  // A signal handler may load images during this call, and another thread may load images while the recording begins.
  // The exchange pairs with the store of false. The loader's lock orders most calls already.
  static _Atomic bool isLooking;
  if (atomic_load_explicit(&watch.isOver, memory_order_relaxed) || atomic_exchange(&isLooking, true)) return;
  uint32_t before = watch.imageCount, hint = 0, seen = 0;
  watch.passes++;
  for (const struct rendezvous *space = watch.loader; space; space = next_space(space)) {
    for (const struct link_map *map = space->base.r_map; map; map = map->l_next) {
      struct image *image = known(map, &hint);
      bool isNew = !image;
      if (isNew && !(image = keep(map, space))) continue;
      image->pass = watch.passes;
      seen++;
      if (isNew) look_at(image);
    }
  }
  LT_CHECK(seen <= watch.imageCount && before <= watch.imageCount);
  bool hasNew = watch.imageCount > before, hasGone = seen < watch.imageCount, isRelocated = false;
  for (uint32_t i = before; i < watch.imageCount; i++) isRelocated |= !prepare(&watch.images[i]);
  if (isRelocated) finish();
  if (hasGone) forget_what_went();
  if (hasNew || hasGone) refresh();
  atomic_store(&isLooking, false);
}

// --- beginning -------------------------------------------------------------------------------------------------------

bool lt_loader_watch_is_on(void) { return watch.isOn; }

static bool came(const struct dl_phdr_info *info) {
  struct lt_loaded_image image;
  struct lt_swift_runtime runtime;
  if (!lt_loaded_image_from_info(info, &image)) return true;
  if (watch.bindsTables && lt_loaded_image_is_relocated(&image)) lt_table_binding_bind(&image);
  return !is_left_for_later(&image, &runtime);
}

/// Notes the images of the program's namespace as known. Called by dl_iterate_phdr, during which no image is loaded or
/// unloaded.
static void keep_first(void) {
  watch.imageCount = 0;
  memset(watch.spaces, 0, sizeof watch.spaces);
  // Images of other namespaces are not noted, so they count as new.
  for (const struct link_map *map = watch.loader->base.r_map; map; map = map->l_next) {
    struct image *image = keep(map, watch.loader);
    if (image) image->isBound = true;
  }
}

static int look_at_first(struct dl_phdr_info *info, size_t size, void *isFirst) {
  (void)size;
  if (*(bool *)isFirst && watch.images && watch.loader) keep_first();
  *(bool *)isFirst = false;
  came(info);
  return 0;
}

// Once this function is patched in, the loader may call it at any time.
LT_DEFINE_UNNOTICED_CALL(lt_loader_at_rendezvous, lt_on_loader_event);

static struct rendezvous *find_rendezvous(void) {
  const ElfW(Phdr) *headers = (const ElfW(Phdr) *)getauxval(AT_PHDR);
  unsigned long count = getauxval(AT_PHNUM);
  uintptr_t bias = 0;
  const ElfW(Dyn) *dynamic = NULL;
  for (unsigned long i = 0; headers && i < count; i++)
    if (headers[i].p_type == PT_PHDR) bias = (uintptr_t)headers - headers[i].p_vaddr;
  for (unsigned long i = 0; headers && i < count; i++)
    if (headers[i].p_type == PT_DYNAMIC) dynamic = (const ElfW(Dyn) *)(bias + headers[i].p_vaddr);
  for (; dynamic && dynamic->d_tag != DT_NULL; dynamic++)
    if (dynamic->d_tag == DT_DEBUG && dynamic->d_un.d_ptr) return (struct rendezvous *)dynamic->d_un.d_ptr;
  return NULL;
}

/// Writes a jump over the loader's empty function and the padding after it. The write to /proc/self/mem leaves the
/// protection of the executable memory unchanged. The kernel allows such a write, as for a debugger, or refuses it.
static bool patch_r_brk(uintptr_t function) {
  struct lt_jump jump;
  if (!lt_jump_over_empty(function, (uintptr_t)lt_loader_at_rendezvous, &jump)) return false;
  LT_CHECK(jump.size > 0 && jump.size <= LT_JUMP_LIMIT);
  int memory = lt_open("/proc/self/mem", O_RDWR, 0);
  if (memory < 0) return false;
  lt_pwrite_all(memory, jump.bytes, jump.size, function);
  lt_close(memory);
  return memcmp((const void *)function, jump.bytes, jump.size) == 0;
}

static void begin(void) {
  if (!watch.loader) watch.loader = find_rendezvous();
  if (!watch.images) watch.images = lt_map_private(IMAGE_LIMIT * sizeof *watch.images);
  bool isFirst = true;
  dl_iterate_phdr(look_at_first, &isFirst);
  lt_swift_relatives_settle();
  if (!watch.images || !watch.loader || !watch.loader->base.r_brk) return;
  uint32_t before = watch.passes;
  // Other threads may enter the loader at any time.
  bool mayPatch = LT_MAY_PATCH_RUNNING_CODE || !lt_own_threads_has_others();
  if (!watch.isPatched && mayPatch) watch.isPatched = patch_r_brk(watch.loader->base.r_brk);
  // Check that the jump works: a processor emulator may still run its copy of the old code.
  if (watch.isPatched) ((void (*)(void))watch.loader->base.r_brk)();
  watch.isOn = watch.passes > before;
}

void lt_loader_watch_begin(bool tables) {
  watch.bindsTables = tables;
  atomic_store(&watch.isOver, false);
  // The program calls the bound hooks through plain loads. The hooks then load settings and functions, without an
  // order.
  if (tables && !LT_KEEPS_LOAD_ORDER) lt_order_threads();
  begin();
  struct lt_image_observer observer = {.came = came, .went = went, .changed = lt_swift_relatives_settle};
  if (watch.isOn) observer = (struct lt_image_observer){.showElsewhere = show_elsewhere};
  lt_image_list_observe(observer);
}
