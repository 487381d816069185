// Finds Swift runtimes in this process, and reads this process's memory safely.

#define _GNU_SOURCE
#include "swift/swift_runtime.h"

#include "check.h"
#include "os/os.h"

#include <string.h>

// --- runtimes --------------------------------------------------------------------------------------------------------

// Finds the Swift runtime's entry points for tracers.
//
// Swift 6.1's swift_retain calls through the pointer `_swift_retain` while hooks are on. Later versions call through an
// adapter, which first clears the marks of the reference. In these versions, swift_retain calls the adapter through
// another pointer, which is a local symbol.

enum {
  SYMBOL_ALLOC,
  SYMBOL_RETAIN,
  SYMBOL_RETAIN_N,
  SYMBOL_RELEASE,
  SYMBOL_RELEASE_N,
  SYMBOL_TRY_RETAIN,
  SYMBOL_SWITCH,
  SYMBOL_RETAIN_CODE,
  SYMBOL_ADAPTER,
  SYMBOL_COUNT
};
static const char *const symbolNames[SYMBOL_COUNT] = {
    "_swift_allocObject",
    "_swift_retain",
    "_swift_retain_n",
    "_swift_release",
    "_swift_release_n",
    "_swift_tryRetain",
    "_swift_enableSwizzlingOfAllocationAndRefCountingFunctions_forInstrumentsOnly",
    "swift_retain",
    "_ZL21_swift_retain_adapter"};

/// True if the function reads the word at the address.
static bool reads(const struct lt_symbol *function, uint64_t address) {
  enum { LONGEST = 1024 };
  return lt_code_refers_to(function->address, function->size < LONGEST ? function->size : LONGEST, address);
}

static bool assign(struct lt_swift_runtime *r, const struct lt_loaded_image *image,
                   const struct lt_symbol symbols[SYMBOL_COUNT]) {
  for (int i = 0; i < SYMBOL_RETAIN_CODE; i++)
    if (!symbols[i].address || !lt_loaded_image_is_writable(image, symbols[i].address)) return false;
  r->allocObject = (void *)symbols[SYMBOL_ALLOC].address;
  r->retain = (void *)symbols[SYMBOL_RETAIN].address;
  r->retain_n = (void *)symbols[SYMBOL_RETAIN_N].address;
  r->release = (void *)symbols[SYMBOL_RELEASE].address;
  r->release_n = (void *)symbols[SYMBOL_RELEASE_N].address;
  r->tryRetain = (void *)symbols[SYMBOL_TRY_RETAIN].address;
  r->isHooked = (void *)symbols[SYMBOL_SWITCH].address;
  r->retainAdapter = (void *)symbols[SYMBOL_ADAPTER].address;
  LT_CHECK(!r->retainsDirectly);
  if (r->retainAdapter) return true;
  const struct lt_symbol *code = &symbols[SYMBOL_RETAIN_CODE];
  if (!lt_loaded_image_covers(image, code->address) || !lt_loaded_image_covers(image, code->address + code->size))
    return false;
  r->retainsDirectly = reads(code, symbols[SYMBOL_RETAIN].address);
  return true;
}

static enum lt_swift_search find_exported(const struct lt_loaded_image *image, struct lt_swift_runtime *runtime) {
  struct lt_symbol symbols[SYMBOL_COUNT] = {{0, 0}};
  for (int i = 0; i < SYMBOL_ADAPTER; i++) lt_loaded_image_symbol(image, symbolNames[i], &symbols[i]);
  struct lt_elf_file file;
  if (lt_elf_open(image->path, &file)) {
    struct lt_symbol adapter;
    if (lt_elf_is_image(&file, image->start) && lt_elf_find_symbols(&file, &symbolNames[SYMBOL_ADAPTER], &adapter, 1) &&
        adapter.address)
      symbols[SYMBOL_ADAPTER] = (struct lt_symbol){image->bias + adapter.address, adapter.size};
    lt_elf_close(&file);
  }
  return assign(runtime, image, symbols) ? LT_SWIFT_FOUND : LT_SWIFT_UNKNOWN;
}

static enum lt_swift_search find_inside(const struct lt_loaded_image *image, const struct lt_elf_file *file,
                                        struct lt_swift_runtime *runtime) {
  if (!lt_elf_has_section(file, "swift5_protocols") && !lt_elf_has_section(file, "swift5_reflstr") &&
      !lt_elf_has_section(file, "swift5_fieldmd"))
    return LT_SWIFT_ABSENT;
  // The image has functions and symbols of Swift code. An image that contains the runtime imports no symbols of another
  // runtime.
  if (lt_loaded_image_imports(image, "swift_") || lt_loaded_image_imports(image, "$s")) return LT_SWIFT_ABSENT;
  struct lt_symbol symbols[SYMBOL_COUNT];
  if (!lt_elf_is_image(file, image->start)) return LT_SWIFT_ABSENT;
  if (!lt_elf_find_symbols(file, symbolNames, symbols, SYMBOL_COUNT) || !symbols[SYMBOL_RETAIN].address)
    return LT_SWIFT_STRIPPED;
  for (int i = 0; i < SYMBOL_COUNT; i++)
    if (symbols[i].address) symbols[i].address += image->bias;
  runtime->isLinkedIn = true;
  return assign(runtime, image, symbols) ? LT_SWIFT_FOUND : LT_SWIFT_UNKNOWN;
}

enum lt_swift_search lt_swift_runtime_find(const struct lt_loaded_image *image, struct lt_swift_runtime *runtime) {
  memset(runtime, 0, sizeof *runtime);
  struct lt_symbol exported;
  if (lt_loaded_image_symbol(image, symbolNames[SYMBOL_RETAIN], &exported)) return find_exported(image, runtime);
  struct lt_elf_file file;
  if (!lt_elf_open(image->path, &file)) return LT_SWIFT_ABSENT;
  enum lt_swift_search result = find_inside(image, &file, runtime);
  lt_elf_close(&file);
  return result;
}

bool lt_swift_runtime_is_relocated(const struct lt_loaded_image *image, const struct lt_swift_runtime *r) {
  LT_CHECK(r->allocObject && r->retain && r->retain_n && r->release && r->release_n && r->tryRetain);
  return lt_loaded_image_covers(image, (uintptr_t)*r->allocObject) &&
         lt_loaded_image_covers(image, (uintptr_t)*r->retain) &&
         lt_loaded_image_covers(image, (uintptr_t)*r->release) &&
         lt_loaded_image_covers(image, (uintptr_t)*r->retain_n) &&
         lt_loaded_image_covers(image, (uintptr_t)*r->release_n) &&
         lt_loaded_image_covers(image, (uintptr_t)*r->tryRetain);
}

// --- memory of this process ------------------------------------------------------------------------------------------

#if __has_feature(address_sanitizer)
#include <sanitizer/asan_interface.h>
#endif

static bool read_own(const struct lt_memory *memory, uint64_t address, void *to, size_t size) {
  (void)memory;
  LT_CHECK(size > 0 && size <= 4096);
  // One probe reads the eight bytes at an aligned address, which never cross a page boundary. The range lies in at most
  // two pages, so two probes are enough.
  uint64_t first = address & ~7ull, last = (address + size - 1) & ~7ull;
  if (!lt_is_readable(first) || (last != first && !lt_is_readable(last))) return false;
#if __has_feature(address_sanitizer)
  // The sanitizer's own memory is mapped, but its checks would end a program that reads it.
  if (__asan_region_is_poisoned((void *)address, size)) return false;
#endif
  memcpy(to, (const void *)address, size);
  return true;
}

const struct lt_memory lt_own_memory = {.read = read_own, .allocate = lt_map_private, .release = lt_unmap};
