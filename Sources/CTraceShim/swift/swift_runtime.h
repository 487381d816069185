// Finds Swift runtimes in this process, and reads this process's memory safely.

#ifndef LEAKTRACE_SWIFT_RUNTIME_H
#define LEAKTRACE_SWIFT_RUNTIME_H

#include "elf/elf_image.h"
#include "scanned_memory.h"

// --- runtimes --------------------------------------------------------------------------------------------------------

// The entry points that the Swift runtime offers to tracers. The runtime is libswiftCore.so, or part of an executable
// or shared object that was linked statically.

struct lt_swift_runtime {
  void *(**allocObject)(const void *metadata, size_t size, size_t alignMask);
  void *(**retain)(void *object);
  void *(**retain_n)(void *object, uint32_t count);
  void (**release)(void *object);
  void (**release_n)(void *object, uint32_t count);
  void *(**tryRetain)(void *object);
  /// the pointer through which swift_retain calls the adapter; NULL if there is none, or if it was not found
  void *(**retainAdapter)(void *object);
  /// before Swift 6.2: swift_retain calls through `retain` itself, and passes the caller's reference unchanged
  bool retainsDirectly;
  bool isLinkedIn;   ///< linked statically into this image, so that no symbol of the runtime can be interposed
  uint8_t *isHooked; ///< set this to 1 to make every call go through the pointers
};

enum lt_swift_search {
  LT_SWIFT_FOUND,
  LT_SWIFT_ABSENT,   ///< no Swift runtime in the image
  LT_SWIFT_STRIPPED, ///< the image contains a runtime, linked statically, but the symbols of its entry points were
                     ///< stripped
  LT_SWIFT_UNKNOWN,  ///< the image contains a runtime, but not in a form that the recorder knows
};

/// Looks for a runtime in one image, which may not be relocated yet. Reads the image's file. Calls neither the loader
/// nor an allocator.
enum lt_swift_search lt_swift_runtime_find(const struct lt_loaded_image *image, struct lt_swift_runtime *runtime);
/// True if the loader has set the runtime's pointers.
bool lt_swift_runtime_is_relocated(const struct lt_loaded_image *image, const struct lt_swift_runtime *runtime);

// --- memory of this process ------------------------------------------------------------------------------------------

// The memory of this process, for the code that reads Swift's metadata (CHeapScan).

/// Probes every address before it reads there. Any thread may use it.
extern const struct lt_memory lt_own_memory;

#endif
