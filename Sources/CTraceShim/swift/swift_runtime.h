// Swift runtimes in this process, and the memory that their metadata is read from.

#ifndef LEAKTRACE_SWIFT_RUNTIME_H
#define LEAKTRACE_SWIFT_RUNTIME_H

#include "elf/elf_image.h"
#include "scanned_memory.h"

// --- runtimes --------------------------------------------------------------------------------------------------------

// The Swift runtime's entry points for tracers: in libswiftCore.so, or inside an executable or shared object that was
// linked statically.

struct lt_swift_runtime {
  void *(**allocObject)(const void *metadata, size_t size, size_t alignMask);
  void *(**retain)(void *object);
  void *(**retain_n)(void *object, uint32_t count);
  void (**release)(void *object);
  void (**release_n)(void *object, uint32_t count);
  void *(**tryRetain)(void *object);
  /// the pointer that swift_retain goes through; NULL if there is none, or it was not found
  void *(**retainAdapter)(void *object);
  /// swift_retain goes through `retain` itself, with the reference as its caller had it: before Swift 6.2
  bool retainsDirectly;
  bool isLinkedIn;   ///< statically, so that nothing in it can be interposed by name
  uint8_t *isHooked; ///< set to 1 to have every call go through the pointers
};

enum lt_swift_search {
  LT_SWIFT_FOUND,
  LT_SWIFT_ABSENT,   ///< no Swift runtime in the image
  LT_SWIFT_STRIPPED, ///< there is one inside, linked statically, but its entry points have no names
  LT_SWIFT_UNKNOWN,  ///< there is one, but it is not of the form known here
};

/// Looks for a runtime in one image, which may not be relocated yet. Reads the image's file; calls neither loader nor
/// allocator.
enum lt_swift_search lt_swift_runtime_find(const struct lt_loaded_image *image, struct lt_swift_runtime *runtime);
/// Tells whether the loader has set the pointers.
bool lt_swift_runtime_is_relocated(const struct lt_loaded_image *image, const struct lt_swift_runtime *runtime);

// --- memory of this process ------------------------------------------------------------------------------------------

// The memory of this process, for what reads Swift's metadata (CHeapScan).

/// Every address is probed before it is read. May be used by any thread.
extern const struct lt_memory lt_own_memory;

#endif
