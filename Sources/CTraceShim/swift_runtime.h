// The Swift runtime's entry points for tracers: in libswiftCore.so, or inside a statically linked executable.

#ifndef LEAKTRACE_SWIFT_RUNTIME_H
#define LEAKTRACE_SWIFT_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lt_swift_runtime {
  void *(**allocObject)(const void *metadata, size_t size, size_t alignMask);
  void *(**retain)(void *object);
  void *(**retain_n)(void *object, uint32_t count);
  void (**release)(void *object);
  void (**release_n)(void *object, uint32_t count);
  void *(**tryRetain)(void *object);
  void *(**retainAdapter)(void *object); ///< what swift_retain goes through; NULL where it was not found
  uint8_t *isHooked; ///< set to 1 to have every call go through the pointers
  bool isStatic;
};

enum lt_swift_search {
  LT_SWIFT_FOUND,
  LT_SWIFT_ABSENT,   ///< no Swift runtime in the process
  LT_SWIFT_STRIPPED, ///< there is one inside the executable, but its entry points have no names
  LT_SWIFT_UNKNOWN,  ///< there is one, but it is not of the form known here
};
enum lt_swift_search lt_swift_runtime_find(struct lt_swift_runtime *runtime);

#endif
