#define _GNU_SOURCE
#include "hooks/table_binding.h"

#include "check.h"
#include "elf/elf_image.h"
#include "hooks/hook.h"
#include "hooks/malloc_hooks.h"
#include "image/block_list.h"
#include "os/os.h"

#include <string.h>

// --- functions -------------------------------------------------------------------------------------------------------

#define MALLOC_NAME(result, name, parameters) #name,
#define NAME(name) #name,
/// The malloc family, the functions that keep a trace correct, and a Swift runtime's functions that are interposed by
/// name.
static const char *const names[] = {LT_HOOKED_MALLOC_FAMILY(MALLOC_NAME) LT_HOOKED_C_FUNCTIONS(NAME)
                                        LT_HOOKED_SWIFT_FUNCTIONS(NAME)};
enum { NAME_COUNT = sizeof names / sizeof *names };
#define COUNT(result, name, parameters) +1
enum { MALLOC_COUNT = 0 LT_HOOKED_MALLOC_FAMILY(COUNT) };
_Static_assert(sizeof(struct lt_next_functions) == MALLOC_COUNT * sizeof(void *), "pointers, in one order");

static const char swiftPrefix[] = "swift_";

/// The malloc family, then the other functions, then the C++ operators.
enum { SEARCHED_COUNT = NAME_COUNT + LT_OPERATOR_COUNT };
static const char *name_of(int i) { return i < NAME_COUNT ? names[i] : lt_operator_hooks[i - NAME_COUNT].name; }

struct function {
  const char *name;
  void *hook;          ///< NULL: no reference is changed
  void *next;          ///< the required current target of a reference; NULL: any
  bool mayBeUnsettled; ///< an unresolved reference would resolve to `next`
  bool isAllocators;   ///< an operator: the allocator's own references are not changed
};

/// A word that was changed.
struct change {
  void **place;
  void *before;
};
enum { CHANGE_LIMIT = 1 << 18 };

static struct {
  struct function functions[SEARCHED_COUNT];
  int functionCount;
  struct change *changes;
  uint32_t changeCount; ///< at most CHANGE_LIMIT; 0 without `changes`
} binding;

/// The first definition of each function, in the loader's order of images: the loader binds references to it.
struct search {
  bool isForOperators; ///< search only for malloc and the operators
  struct lt_loaded_image own;
  struct {
    uintptr_t address, start, end; ///< [start, end): its image
  } first[SEARCHED_COUNT];
};

static int find_own(struct dl_phdr_info *info, size_t size, void *context) {
  (void)size;
  struct search *search = context;
  struct lt_loaded_image image;
  if (!lt_loaded_image_from_info(info, &image) || !lt_loaded_image_covers(&image, (uintptr_t)&find_own)) return 0;
  search->own = image;
  return 1;
}

static int find_first(struct dl_phdr_info *info, size_t size, void *context) {
  (void)size;
  struct search *search = context;
  struct lt_loaded_image image;
  if (!lt_loaded_image_from_info(info, &image) || image.start == search->own.start) return 0;
  for (int i = 0; i < SEARCHED_COUNT; i++) {
    struct lt_symbol symbol;
    if (search->isForOperators && i > 0 && i < NAME_COUNT) continue;
    if (search->first[i].address || !lt_loaded_image_symbol(&image, name_of(i), &symbol)) continue;
    search->first[i].address = symbol.address;
    search->first[i].start = image.start;
    search->first[i].end = image.end;
  }
  return 0;
}

/// False if this library is not among the images.
static bool find_functions(struct search *search) {
  dl_iterate_phdr(find_own, search);
  if (!search->own.end) return false;
  dl_iterate_phdr(find_first, search);
  return true;
}

static struct function function_of(int i, const struct search *search, void *hook) {
  if (i < MALLOC_COUNT) return (struct function){names[i], hook, (void *)search->first[i].address, true, false};
  if (strncmp(names[i], swiftPrefix, sizeof swiftPrefix - 1) == 0)
    return (struct function){names[i], hook, NULL, true, false};
  // The hook calls the definition that lt_next_symbol finds, and a library may have several versions of the function.
  void *next = lt_next_symbol(names[i]);
  bool isFirst = (uintptr_t)next >= search->first[i].start && (uintptr_t)next < search->first[i].end;
  return (struct function){names[i], next ? hook : NULL, next, isFirst, false};
}

/// Adds the C++ operators in the image of the program's malloc, the first function.
static void add_operators(const struct search *search) {
  for (int i = NAME_COUNT; i < SEARCHED_COUNT; i++) {
    if (!search->first[i].address || search->first[i].start != search->first[0].start) continue;
    const struct lt_operator_hook *known = &lt_operator_hooks[i - NAME_COUNT];
    *known->next = (void *)search->first[i].address;
    binding.functions[binding.functionCount++] = (struct function){known->name, known->hook, *known->next, true, true};
  }
}

bool lt_table_binding_prepare(void) {
  struct search search = {0};
  if (!find_functions(&search)) return false;
  struct lt_next_functions next;
  for (int i = 0; i < MALLOC_COUNT; i++) {
    if (!search.first[i].address) return false;
    ((void **)&next)[i] = (void *)search.first[i].address;
  }
  for (int i = 0; i < NAME_COUNT; i++) {
    struct lt_symbol hook = {0, 0};
    lt_loaded_image_symbol(&search.own, names[i], &hook);
    binding.functions[i] = function_of(i, &search, (void *)hook.address);
  }
  binding.functionCount = NAME_COUNT;
  add_operators(&search);
  lt_next = next;
  lt_block_list_init((uintptr_t)next.malloc);
  return true;
}

bool lt_table_binding_prepare_operators(void) {
  struct search search = {.isForOperators = true};
  binding.functionCount = 0;
  if (find_functions(&search)) add_operators(&search);
  return binding.functionCount > 0;
}

// --- binding ---------------------------------------------------------------------------------------------------------

static void bind_reference(const struct lt_reference *reference, void *image) {
  LT_CHECK(binding.changes && binding.functionCount <= SEARCHED_COUNT && binding.changeCount <= CHANGE_LIMIT);
  for (int i = 0; i < binding.functionCount; i++) {
    const struct function *f = &binding.functions[i];
    if (!f->hook || strcmp(reference->name, f->name) != 0) continue;
    if (f->isAllocators && lt_loaded_image_covers(image, (uintptr_t)f->next)) return;
    void *before = *reference->place;
    bool isToBeBound = reference->isUnsettled ? f->mayBeUnsettled : !f->next || before == f->next;
    if (!isToBeBound || !before || lt_is_own_address((uintptr_t)before) || binding.changeCount == CHANGE_LIMIT) return;
    binding.changes[binding.changeCount++] = (struct change){reference->place, before};
    LT_CHECK(before != f->hook);
    lt_loaded_image_replace(image, reference->place, f->hook);
    return;
  }
}

void lt_table_binding_bind(const struct lt_loaded_image *image) {
  if (!binding.changes && !(binding.changes = lt_map_private(CHANGE_LIMIT * sizeof *binding.changes))) return;
  if (lt_loaded_image_covers(image, (uintptr_t)&find_own)) return;
  lt_loaded_image_show_references(image, bind_reference, (void *)image);
}

void lt_table_binding_forget(uintptr_t start, uintptr_t end) {
  LT_CHECK(start <= end && (binding.changes || !binding.changeCount));
  for (uint32_t i = 0; i < binding.changeCount;) {
    uintptr_t place = (uintptr_t)binding.changes[i].place;
    if (place >= start && place < end) binding.changes[i] = binding.changes[--binding.changeCount];
    else i++;
  }
}

static int put_back(struct dl_phdr_info *info, size_t size, void *context) {
  (void)size;
  (void)context;
  struct lt_loaded_image image;
  if (!lt_loaded_image_from_info(info, &image)) return 0;
  for (uint32_t i = 0; i < binding.changeCount; i++) {
    if (!lt_loaded_image_covers(&image, (uintptr_t)binding.changes[i].place)) continue;
    // The program, or the loader, may have changed the word since.
    if (lt_is_own_address((uintptr_t)*binding.changes[i].place))
      lt_loaded_image_replace(&image, binding.changes[i].place, binding.changes[i].before);
  }
  return 0;
}

void lt_table_binding_undo(void) {
  if (!binding.changes) return;
  // No image is loaded or unloaded during dl_iterate_phdr.
  dl_iterate_phdr(put_back, NULL);
  lt_unmap(binding.changes, CHANGE_LIMIT * sizeof *binding.changes);
  binding.changes = NULL;
  binding.changeCount = 0;
}
