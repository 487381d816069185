#define _GNU_SOURCE
#include "process_memory.h"

#include "page_presence.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <unistd.h>

size_t lt_read_process(pid_t process, uint64_t address, void *buffer, size_t size) {
  size_t done = 0;
  // The kernel stops at the first page that it cannot read, and may stop earlier.
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

size_t lt_read_memory_file(int file, uint64_t address, void *buffer, size_t size) {
  size_t done = 0;
  while (done < size && address <= UINT64_MAX - done) {
    ssize_t count = pread(file, (char *)buffer + done, size - done, (off_t)(address + done));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    done += (size_t)count;
  }
  return done;
}

long lt_list_present_pages(int pagemap, uint64_t start, uint64_t end, bool leavesOutFiles, struct lt_page_range *ranges,
                           uint64_t most, uint64_t *reached) {
  struct lt_presence_question question;
  lt_presence_ask(&question, start, end, leavesOutFiles);
  question.ranges = (uint64_t)(uintptr_t)ranges;
  question.rangeCount = most;
  question.pageLimit = 0;
  int count;
  do count = ioctl(pagemap, LT_PAGEMAP_SCAN, &question);
  while (count < 0 && errno == EINTR);
  *reached = question.walkEnd;
  return count < 0 ? -errno : count;
}
