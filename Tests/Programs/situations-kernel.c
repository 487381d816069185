// Situations of the kernel's features: memory of special kinds, counters, rings and events.
#define _GNU_SOURCE
#include <link.h>
#include <linux/io_uring.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/fanotify.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "situations.h"

// Headers of older distributions lack these. Without the first, a situation is not possible.
#if __has_include(<sys/rseq.h>)
#include <sys/rseq.h>
#endif
#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41
#define PR_SET_VMA_ANON_NAME 0
#endif
#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1
#endif

enum { PAGE = 4096, MDROPPABLE = 0x08, CALL_SECRET = 447, CALL_SEAL = 462, FAULT_ON_CPUID = 0x1012 };

// --- memory ----------------------------------------------------------------------------------------------------------

/// Keeps pointers to blocks of the heap in a mapping, and looks whether they stay.
static int keep_in(void **memory, size_t size, bool mayVanish) {
  enum { KEPT = 100 };
  MUST(size >= KEPT * sizeof *memory);
  for (int i = 0; i < KEPT; i++) *(long *)(memory[i] = malloc(64)) = i;
  void *copies[KEPT];
  memcpy(copies, memory, sizeof copies);
  take_images();
  for (int i = 0; i < KEPT; i++) {
    MUST(memory[i] == copies[i] || (mayVanish && !memory[i]));
    MUST(*(long *)copies[i] == i);
  }
  puts("kept");
  return 0;
}
SITUATION(huge_pages, "blocks are held by memory of huge pages") {
  enum { HUGE = 2 << 20 };
  void *memory = mmap(NULL, HUGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
  if (memory == MAP_FAILED) return 77;
  return keep_in(memory, HUGE, false);
}
SITUATION(transparent_huge_pages, "memory is made of huge pages while images are taken") {
  enum { SIZE = 32 << 20 };
  char *memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  MUST(memory != MAP_FAILED);
  madvise(memory, SIZE, MADV_HUGEPAGE);
  memset(memory, 0, SIZE);
  return keep_in((void **)memory, SIZE, false);
}
SITUATION(secret_memory, "blocks are held by memory that the kernel itself cannot read (memfd_secret)") {
  int file = (int)syscall(CALL_SECRET, FD_CLOEXEC);
  if (file < 0) return 77;
  MUST(ftruncate(file, PAGE) == 0);
  void *memory = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) return 77;
  close(file);
  return keep_in(memory, PAGE, false);
}
SITUATION(droppable_memory, "blocks are held by memory that the kernel may drop") {
  void *memory = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MDROPPABLE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 77;
  return keep_in(memory, PAGE, true);
}
SITUATION(mapped_past_end, "a mapping is longer than its file, and a file that is mapped gets shorter") {
  int file = open("mapped", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  MUST(file >= 0 && ftruncate(file, 8 * PAGE) == 0);
  void *memory = mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  void *private = mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
  MUST(memory != MAP_FAILED && private != MAP_FAILED && ftruncate(file, PAGE) == 0);
  return keep_in(memory, PAGE, false);
}
SITUATION(names_of_mappings, "mapped files and memory have names like those of other mappings") {
  static const char *const names[] = {"[heap]", "a b\nc [stack]", "libc.so.6 (deleted)", "\x01\x02 \\040"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    int file = open(names[i], O_RDWR | O_CREAT | O_CLOEXEC, 0700);
    MUST(file >= 0 && ftruncate(file, PAGE) == 0);
    MUST(mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE, file, 0) != MAP_FAILED);
    close(file);
    unlink(names[i]);
  }
  void *memory = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, memory, PAGE, "stack]: 00-11 rw-p /lib");
  return keep_in(memory, PAGE, false);
}
static long seal(uintptr_t start, uintptr_t end) { return syscall(CALL_SEAL, start, end - start, 0); }
SITUATION(sealed_memory,
          "all mappings of the program's images are sealed (mseal), and a library is loaded afterwards") {
  FILE *file = fopen("/proc/self/maps", "re");
  char line[512];
  bool isSealed = true;
  while (file && fgets(line, sizeof line, file)) {
    unsigned long start, end;
    char name[256] = "";
    if (sscanf(line, "%lx-%lx %*s %*s %*s %*s %255s", &start, &end, name) == 3 && *name == '/' &&
        !strstr(name, "leaktrace") && !strstr(name, ".trace"))
      isSealed &= seal(start, end) == 0;
  }
  if (file) fclose(file);
  if (!isSealed) return 77;
  take_images();
  void *library = dlopen("libm.so.6", RTLD_NOW);
  puts(library ? "loaded" : dlerror());
  return 0;
}
static int make_writable(struct dl_phdr_info *info, size_t size, void *unused) {
  (void)size, (void)unused;
  if (!strstr(info->dlpi_name, "libc.so")) return 0;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *p = &info->dlpi_phdr[i];
    if (p->p_type != PT_LOAD) continue;
    uintptr_t start = (info->dlpi_addr + p->p_vaddr) & -(uintptr_t)PAGE;
    MUST(mprotect((void *)start, info->dlpi_addr + p->p_vaddr + p->p_memsz - start,
                  PROT_READ | PROT_WRITE | PROT_EXEC) == 0);
  }
  return 1;
}
SITUATION(library_writable, "the C library's code and tables are writable and executable") {
  dl_iterate_phdr(make_writable, NULL);
  return take_images();
}
SITUATION(code_as_in_file, "the code of the program and its libraries is what their files have") {
  int changed = 0;
  do {
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[512];
    while (maps && fgets(line, sizeof line, maps)) {
      unsigned long start, end, offset;
      char rights[8], name[256] = "";
      if (sscanf(line, "%lx-%lx %7s %lx %*s %*s %255s", &start, &end, rights, &offset, name) != 5 || rights[2] != 'x' ||
          rights[1] == 'w' || *name != '/' || strstr(name, "leaktrace"))
        continue;
      int file = open(name, O_RDONLY | O_CLOEXEC);
      MUST(file >= 0);
      char page[PAGE];
      for (unsigned long at = start; at < end; at += PAGE)
        if (pread(file, page, PAGE, (off_t)(offset + at - start)) == PAGE && memcmp(page, (void *)at, PAGE) != 0)
          changed++;
      close(file);
    }
    if (maps) fclose(maps);
    nap(10);
  } while (goes_on());
  puts(changed ? "changed" : "as in the files");
  return 0;
}
SITUATION(write_protected, "a thread of the program's handles writes to protected heap pages (userfaultfd)") {
  int faults = (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);
  struct uffdio_api api = {.api = UFFD_API, .features = UFFD_FEATURE_PAGEFAULT_FLAG_WP};
  if (faults < 0 || ioctl(faults, UFFDIO_API, &api) != 0) return 77;
  enum { PAGES = 64 };
  char *memory = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memset(memory, 1, PAGES * PAGE);
  struct uffdio_register range = {.range = {(uintptr_t)memory, PAGES * PAGE}, .mode = UFFDIO_REGISTER_MODE_WP};
  if (ioctl(faults, UFFDIO_REGISTER, &range) != 0) return 77;
  do {
    struct uffdio_writeprotect protect = {.range = range.range, .mode = UFFDIO_WRITEPROTECT_MODE_WP};
    MUST(ioctl(faults, UFFDIO_WRITEPROTECT, &protect) == 0);
    snapshot();
    protect.mode = 0;
    MUST(ioctl(faults, UFFDIO_WRITEPROTECT, &protect) == 0);
    memset(memory, 2, PAGES * PAGE);
    nap(10);
  } while (goes_on());
  puts("written");
  return 0;
}

// --- the processor ---------------------------------------------------------------------------------------------------

SITUATION(counter_faults, "the processor's counter may not be read any more (PR_SET_TSC)") {
  allocate(10);
  if (prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0) != 0) return 77;
  char *volatile block;
  for (int i = 0; i < 1000; i++) {
    block = malloc(100);
    free(block);
  }
  // The C library's clocks read the counter, so nothing here does.
  if (getenv("SITUATION_SECONDS"))
    for (int i = 0; i < 150; i++) {
      free(malloc(100));
      syscall(SYS_nanosleep, &(struct timespec){0, 20000000}, NULL);
    }
  snapshot();
  write(1, "counted\n", 8);
  prctl(PR_SET_TSC, PR_TSC_ENABLE, 0, 0, 0);
  return 0;
}
static void *without_counter(void *unused) {
  if (prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0) != 0) return (void *)1;
  allocate(500);
  return unused;
}
SITUATION(counter_faults_in_thread, "one thread may not read the processor's counter any more") {
  do {
    pthread_t thread;
    void *result = NULL;
    MUST(pthread_create(&thread, NULL, without_counter, NULL) == 0 && pthread_join(thread, &result) == 0);
    if (result) return 77;
    allocate(500);
    snapshot();
    nap(10);
  } while (goes_on());
  puts("counted");
  return 0;
}
SITUATION(processor_hidden, "the processor may not be asked what it can do (ARCH_CPUID)") {
#ifndef SYS_arch_prctl
  return 77;
#else
  allocate(10);
  if (syscall(SYS_arch_prctl, FAULT_ON_CPUID, 0) != 0) return 77;
  take_images();
  puts("went on");
  return 0;
#endif
}
SITUATION(own_restart_area, "the process registers an area of its own for restartable sequences") {
#ifndef RSEQ_SIG
  return 77;
#else
  static struct rseq own __attribute__((aligned(32)));
  struct rseq *library = (struct rseq *)((char *)__builtin_thread_pointer() + __rseq_offset);
  if (__rseq_size == 0 || syscall(SYS_rseq, library, 32, RSEQ_FLAG_UNREGISTER, RSEQ_SIG) != 0) return 77;
  MUST(syscall(SYS_rseq, &own, 32, 0, RSEQ_SIG) == 0);
  take_images();
  MUST(own.cpu_id < 4096);
  MUST(syscall(SYS_rseq, &own, 32, RSEQ_FLAG_UNREGISTER, RSEQ_SIG) == 0);
  puts("registered");
  return 0;
#endif
}

// --- rings and events ------------------------------------------------------------------------------------------------

SITUATION(ring_with_kernel_thread, "a thread of the kernel's serves a ring of the process (io_uring with SQPOLL)") {
  struct io_uring_params parameters = {.flags = IORING_SETUP_SQPOLL, .sq_thread_idle = 50};
  int ring = (int)syscall(SYS_io_uring_setup, 64, &parameters);
  if (ring < 0) return 77;
  size_t size = parameters.sq_off.array + parameters.sq_entries * sizeof(unsigned);
  size_t answersSize = parameters.cq_off.cqes + parameters.cq_entries * sizeof(struct io_uring_cqe);
  if (answersSize > size) size = answersSize;
  char *rings = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring, IORING_OFF_SQ_RING);
  struct io_uring_sqe *entries = mmap(NULL, parameters.sq_entries * sizeof *entries, PROT_READ | PROT_WRITE,
                                      MAP_SHARED | MAP_POPULATE, ring, IORING_OFF_SQES);
  MUST(rings != MAP_FAILED && entries != MAP_FAILED);
  _Atomic unsigned *tail = (_Atomic unsigned *)(rings + parameters.sq_off.tail);
  _Atomic unsigned *flags = (_Atomic unsigned *)(rings + parameters.sq_off.flags);
  _Atomic unsigned *answered = (_Atomic unsigned *)(rings + parameters.cq_off.tail);
  _Atomic unsigned *taken = (_Atomic unsigned *)(rings + parameters.cq_off.head);
  unsigned *array = (unsigned *)(rings + parameters.sq_off.array), mask = parameters.sq_entries - 1, asked = 0;
  int pipes[2], late = 0;
  MUST(pipe2(pipes, O_CLOEXEC) == 0);
  do {
    for (int i = 0; i < 20; i++) {
      unsigned place = asked & mask;
      char *block = malloc(32);
      strcpy(block, "twelve bytes");
      entries[place] = (struct io_uring_sqe){
          .opcode = IORING_OP_WRITE, .fd = pipes[1], .addr = (uintptr_t)block, .len = 12, .off = ~0ull};
      array[place] = place;
      *tail = ++asked;
      if (*flags & IORING_SQ_NEED_WAKEUP) syscall(SYS_io_uring_enter, ring, 0, 0, IORING_ENTER_SQ_WAKEUP, NULL, 0);
      char text[12];
      MUST(read(pipes[0], text, 12) == 12 && memcmp(text, "twelve bytes", 12) == 0);
      for (int wait = 0; *answered != asked; wait++) {
        if (wait > 5000) late++, wait = 0;
        nap(1);
      }
      *taken = asked;
      free(block);
    }
    snapshot();
    nap(5);
  } while (goes_on());
  printf("%d late\n", late);
  close(ring);
  return 0;
}
SITUATION(directory_watched, "the process is told of all that happens in its directory (inotify)") {
  int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  MUST(watch >= 0 && inotify_add_watch(watch, ".", IN_ALL_EVENTS) >= 0);
  take_images();
  char events[4096];
  long size = read(watch, events, sizeof events);
  printf("%ld\n", size < 0 ? 0 : size);
  close(watch);
  return 0;
}
SITUATION(directory_marked, "the process is told who opens files of its directory (fanotify)") {
  int watch = fanotify_init(FAN_CLASS_NOTIF | FAN_NONBLOCK | FAN_CLOEXEC, O_RDONLY | O_CLOEXEC);
  if (watch < 0 ||
      fanotify_mark(watch, FAN_MARK_ADD, FAN_OPEN | FAN_ACCESS | FAN_MODIFY | FAN_EVENT_ON_CHILD | FAN_ONDIR, AT_FDCWD,
                    ".") != 0)
    return 77;
  take_images();
  char events[4096];
  long size = read(watch, events, sizeof events);
  printf("%ld\n", size < 0 ? 0 : size);
  close(watch);
  return 0;
}
SITUATION(counted_switches, "the process asks what it used, and meets no time that goes back") {
  struct rusage before, now;
  int backwards = 0;
  MUST(getrusage(RUSAGE_SELF, &before) == 0);
  do {
    allocate(1000);
    snapshot();
    MUST(getrusage(RUSAGE_SELF, &now) == 0);
    backwards += now.ru_utime.tv_sec < before.ru_utime.tv_sec || now.ru_nvcsw < before.ru_nvcsw;
    before = now;
    nap(5);
  } while (goes_on());
  printf("%d backwards\n", backwards);
  return 0;
}
