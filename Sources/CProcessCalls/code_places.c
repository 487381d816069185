// Finds the places by the names of images and of the functions that they export.

#define _GNU_SOURCE
#include "code_places.h"

#include "process_memory.h"
#include "processor/processor.h"

#if LT_CAN_STOP_THREADS

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/// Functions in one object file of glibc. All code from the first to the last of them belongs to the allocator (2.31 to
/// 2.41).
static const char *const allocatorFunctions[] = {
    "malloc",        "free",         "calloc",      "realloc",        "memalign",
    "aligned_alloc", "valloc",       "pvalloc",     "mallinfo",       "mallopt",
    "malloc_trim",   "malloc_stats", "malloc_info", "posix_memalign", "malloc_usable_size",
};
/// Further entry points of an allocator that is part of the program.
static const char *const operators[] = {
    "_Znwm",   "_Znam",   "_ZnwmRKSt9nothrow_t", "_ZnwmSt11align_val_t", "_ZdlPv", "_ZdaPv",
    "_ZdlPvm", "_ZdaPvm", "reallocarray"};
static const struct {
  const char *name;
  enum lt_code_place place;
} otherFunctions[] = {
    {"dl_iterate_phdr", LT_CODE_LOADER},
    {"_dl_addr", LT_CODE_LOADER},
    {"dlopen", LT_CODE_LOADER},
    {"dlmopen", LT_CODE_LOADER},
    {"dlclose", LT_CODE_LOADER},
    {"dlsym", LT_CODE_LOADER},
    {"dlvsym", LT_CODE_LOADER},
    {"dladdr", LT_CODE_LOADER},
    {"dlinfo", LT_CODE_LOADER},
    {"fork", LT_CODE_FORK},
    {"_Fork", LT_CODE_FORK},
    {"exit", LT_CODE_EXIT},
    {"quick_exit", LT_CODE_EXIT},
    {"__cxa_finalize", LT_CODE_LOADER},
    {"__cxa_atexit", LT_CODE_THREADS},
    {"pthread_create", LT_CODE_THREADS},
    {"pthread_exit", LT_CODE_THREADS},
    {"pthread_getattr_np", LT_CODE_THREADS},
    {"pthread_detach", LT_CODE_THREADS},
    {"pthread_atfork", LT_CODE_THREADS},
    {"__register_atfork", LT_CODE_THREADS},
    {"setuid", LT_CODE_THREADS},
    {"setgid", LT_CODE_THREADS},
    {"setresuid", LT_CODE_THREADS},
    {"setresgid", LT_CODE_THREADS},
    {"setreuid", LT_CODE_THREADS},
    {"setregid", LT_CODE_THREADS},
    {"setgroups", LT_CODE_THREADS},
};
static const unsigned char restorerCode[] = {LT_RESTORER_CODE};
/// __RTLD_DLOPEN of glibc. Without this flag, __libc_dlopen_mode before 2.34 treats its caller as the C library.
static const uint64_t asProgram = 0x80000000;

static void add(struct lt_code_places *places, uint64_t start, uint64_t end, enum lt_code_place place) {
  if (places->rangeCount == LT_MAX_CODE_RANGES || start >= end) return;
  places->ranges[places->rangeCount++] = (struct lt_code_range){start, end, place};
}

static bool begins(const char *name, const char *with) { return strncmp(name, with, strlen(with)) == 0; }

static bool is_libc(const char *name) { return begins(name, "libc.so.6") || begins(name, "libc-2."); }
static bool is_loader(const char *name) {
  return begins(name, "ld-linux-") || begins(name, "ld-2.") || begins(name, "ld.so");
}
/// True for the other libraries of glibc, which were separate before 2.34.
static bool is_libc_part(const char *name) {
  return begins(name, "libpthread") || begins(name, "librt.so") || begins(name, "librt-2.");
}
/// True for a C library other than glibc. musl's library is also the loader. The name of glibc's library has a number.
static bool is_other_libc(const char *name) {
  return begins(name, "ld-musl-") || begins(name, "libc.musl-") || strcmp(name, "libc.so") == 0;
}
static bool is_dl_part(const char *name) { return begins(name, "libdl.so") || begins(name, "libdl-2."); }

static uint64_t address(const struct lt_code_places *places, const struct lt_remote_image *image, const char *name) {
  struct lt_remote_function function;
  return image && lt_remote_function(&places->images, image, name, &function) ? function.start : 0;
}

static void add_allocator_of_libc(struct lt_code_places *places, const struct lt_remote_image *libc) {
  struct lt_remote_function stretch = {UINT64_MAX, 0}, function;
  for (size_t i = 0; i < sizeof allocatorFunctions / sizeof *allocatorFunctions; i++) {
    if (!lt_remote_function(&places->images, libc, allocatorFunctions[i], &function)) continue;
    if (function.start < stretch.start) stretch.start = function.start;
    if (function.end > stretch.end) stretch.end = function.end;
  }
  if (stretch.end == 0) return;
  lt_remote_widen(&places->images, libc, &stretch);
  add(places, stretch.start, stretch.end, LT_CODE_ALLOCATOR);
}

static void add_functions(struct lt_code_places *places, const struct lt_remote_image *image, const char *const *names,
                          size_t count) {
  struct lt_remote_function function;
  for (size_t i = 0; i < count; i++)
    if (lt_remote_function(&places->images, image, names[i], &function))
      add(places, function.start, function.end, LT_CODE_ALLOCATOR);
}

/// Adds an allocator that replaces the C library's: a separate library, or a part of the program.
static void add_allocator(struct lt_code_places *places, const struct lt_remote_image *image) {
  if (address(places, image, "malloc") == 0) return;
  if (!image->isExecutable) {
    add(places, image->start, image->end, LT_CODE_ALLOCATOR);
    return;
  }
  add_functions(places, image, allocatorFunctions, sizeof allocatorFunctions / sizeof *allocatorFunctions);
  add_functions(places, image, operators, sizeof operators / sizeof *operators);
}

static uint64_t find_restorer(pid_t process, const struct lt_remote_image *owner) {
  if (owner == NULL) return 0;
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  size_t size = owner->end - owner->start;
  if (size > 64u << 20) return 0;
  unsigned char *code = malloc(size);
  if (code == NULL) return 0;
  uint64_t found = 0;
  // There may be holes between the segments.
  for (size_t at = 0; at < size && found == 0;) {
    size_t read = lt_read_process(process, owner->start + at, code, size - at);
    const unsigned char *place = read ? memmem(code, read, restorerCode, sizeof restorerCode - 1) : NULL;
    if (place) found = owner->start + at + (uint64_t)(place - code);
    at = ((at + read) | (page - 1)) + 1;
  }
  free(code);
  return found;
}

static void find_system_call(struct lt_code_places *places, const struct lt_remote_image *libc) {
  struct lt_remote_function function;
  unsigned char code[128];
  if (!lt_remote_function(&places->images, libc, "syscall", &function)) return;
  size_t size = function.end - function.start < sizeof code ? function.end - function.start : sizeof code;
  if (lt_read_process(places->images.process, function.start, code, size) != size) return;
  size_t call = lt_first_call_in(code, size);
  if (call == size) return;
  size_t rest = call + LT_CALL_SIZE, end = rest + lt_first_return_in(code + rest, size - rest);
  if (end == size) return;
  places->systemCall = function.start + call;
  places->returning = function.start + end;
}

enum lt_places_result lt_code_places_find(pid_t process, struct lt_code_places *places) {
  memset(places, 0, sizeof *places);
  if (!lt_remote_images_read(process, &places->images) || places->images.count == 0) return LT_PLACES_UNREADABLE;
  const struct lt_remote_image *libc = NULL, *loader = NULL, *dl = NULL, *kernels = NULL;
  bool isOther = false;
  for (size_t i = 0; i < places->images.count; i++) {
    const struct lt_remote_image *image = &places->images.images[i];
    const char *name = lt_remote_image_name(image);
    if (is_libc(name) && !libc) libc = image;
    if (is_loader(name) && !loader) loader = image;
    if (is_dl_part(name) && !dl) dl = image;
    if (strcmp(name, "[vdso]") == 0) kernels = image;
    if (is_other_libc(name)) isOther = true;
    if (begins(name, "libleaktrace.so")) places->recorder = image;
  }
  if (isOther) return LT_PLACES_OTHER_LIBC;
  if (!libc || !loader) return LT_PLACES_STATIC;

  add(places, loader->start, loader->end, LT_CODE_LOADER);
  if (dl) add(places, dl->start, dl->end, LT_CODE_LOADER);
  if (places->recorder) add(places, places->recorder->start, places->recorder->end, LT_CODE_ALLOCATOR);
  add_allocator_of_libc(places, libc);
  for (size_t i = 0; i < places->images.count; i++) {
    const struct lt_remote_image *image = &places->images.images[i];
    const char *name = lt_remote_image_name(image);
    struct lt_remote_function function;
    bool isPart = image == libc || is_libc_part(name);
    for (size_t k = 0; isPart && k < sizeof otherFunctions / sizeof *otherFunctions; k++)
      if (lt_remote_function(&places->images, image, otherFunctions[k].name, &function))
        add(places, function.start, function.end, otherFunctions[k].place);
    if (isPart) add(places, image->start, image->end, LT_CODE_LIBC);
    else if (image != loader && image != dl && image != places->recorder) add_allocator(places, image);
  }

  places->openLibrary = address(places, libc, "dlopen");
  if (places->openLibrary == 0) places->openLibrary = address(places, dl, "dlopen");
  if (places->openLibrary == 0) {
    places->openLibrary = address(places, libc, "__libc_dlopen_mode");
    places->openMode = asProgram;
  }
  places->lastError = address(places, libc, "dlerror");
  if (places->lastError == 0) places->lastError = address(places, dl, "dlerror");
  places->errorPlace = address(places, libc, "__errno_location");
  places->restorer = find_restorer(process, LT_RESTORER_IS_KERNELS ? kernels : libc);
  find_system_call(places, libc);
  bool isComplete = places->openLibrary && places->errorPlace && places->restorer;
  return isComplete ? LT_PLACES_FOUND : LT_PLACES_NO_FUNCTIONS;
}

void lt_code_places_free(struct lt_code_places *places) { lt_remote_images_free(&places->images); }

enum lt_code_place lt_code_place_of(const struct lt_code_places *places, uint64_t address) {
  for (size_t i = 0; i < places->rangeCount; i++)
    if (address >= places->ranges[i].start && address < places->ranges[i].end) return places->ranges[i].place;
  const struct lt_remote_image *image = lt_remote_image_at(&places->images, address);
  return image ? LT_CODE_OTHER : LT_CODE_NOWHERE;
}

#endif
