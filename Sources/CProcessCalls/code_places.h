// Finds the code of another process that matters when a thread calls its loader. This is the code of the loader, the
// allocator and the C library, and the functions to call.

#ifndef LEAKTRACE_CODE_PLACES_H
#define LEAKTRACE_CODE_PLACES_H

#include "remote_images.h"

enum lt_code_place {
  LT_CODE_OTHER,     ///< code of the program or of a library
  LT_CODE_NOWHERE,   ///< in no image
  LT_CODE_LIBC,      ///< other code of the C library
  LT_CODE_LOADER,    ///< may hold the loader's lock
  LT_CODE_ALLOCATOR, ///< may hold an arena's lock; the recorder's code counts as such
  LT_CODE_FORK,      ///< holds both of these locks
  LT_CODE_EXIT,      ///< the process is ending
  LT_CODE_THREADS,   ///< may hold the lock of the list of threads' stacks, which the loader takes
};

struct lt_code_range {
  uint64_t start, end;
  enum lt_code_place place;
};

enum { LT_MAX_CODE_RANGES = 256 };

struct lt_code_places {
  struct lt_remote_images images;
  struct lt_code_range ranges[LT_MAX_CODE_RANGES]; ///< the first range that contains an address determines its place
  size_t rangeCount;
  uint64_t openLibrary; ///< dlopen, or a function with the same effect
  uint64_t openMode;    ///< extra flags for the second argument of that other function
  uint64_t lastError;   ///< dlerror; 0 if it was not found
  uint64_t errorPlace;  ///< __errno_location
  /// The signal restorer: signal handlers return there. It makes the kernel restore all registers.
  uint64_t restorer;
  /// The instructions for the system call and for the return in libc's function syscall; or 0.
  uint64_t systemCall, returning;
  const struct lt_remote_image *recorder; ///< the preloaded library; NULL if it is not loaded
};

enum lt_places_result {
  LT_PLACES_FOUND,
  LT_PLACES_UNREADABLE,
  LT_PLACES_STATIC,       ///< no dynamic loader
  LT_PLACES_OTHER_LIBC,   ///< not glibc
  LT_PLACES_NO_FUNCTIONS, ///< glibc, but a needed function was not found
};

enum lt_places_result lt_code_places_find(pid_t process, struct lt_code_places *places);
void lt_code_places_free(struct lt_code_places *places);

enum lt_code_place lt_code_place_of(const struct lt_code_places *places, uint64_t address);

#endif
