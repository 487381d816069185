// The kernel's figures of the process's memory at an image.

#ifndef LEAKTRACE_MEMORY_ACCOUNT_H
#define LEAKTRACE_MEMORY_ACCOUNT_H

#include "CTraceFormat.h"

#include <sys/types.h>

struct lt_memory_account {
  pid_t process; ///< the owner of the memory
  uint64_t time; ///< of the image
  uint64_t recorderBytes, peakResident;
};

/// Bytes of both definitions at most.
enum { LT_MEMORY_ACCOUNT_SIZE = 128 };

/// Puts LT_DEF_MEMORY and LT_DEF_RESIDENCE, and returns their bytes; 0 if the kernel does not say. In the copy, which
/// has the process's anonymous pages, while the files of /proc are open to it.
size_t lt_memory_account_put(const struct lt_memory_account *account, uint8_t *to);

#endif
