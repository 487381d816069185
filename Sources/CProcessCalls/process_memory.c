#define _GNU_SOURCE
#include "process_memory.h"

#include <errno.h>
#include <sys/uio.h>

size_t lt_read_process(pid_t process, uint64_t address, void *buffer, size_t size) {
  size_t done = 0;
  // The kernel stops at the first page that it cannot read, and may stop before.
  while (done < size && address <= UINT64_MAX - done) {
    struct iovec local = {(char *)buffer + done, size - done};
    struct iovec remote = {(void *)(uintptr_t)(address + done), size - done};
    ssize_t count = process_vm_readv(process, &local, 1, &remote, 1, 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    done += (size_t)count;
  }
  return done;
}
