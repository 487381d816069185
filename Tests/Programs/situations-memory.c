// Situations of memory: allocations, limits on the process's memory, and code that is mapped, loaded and unloaded.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "situations.h"

SITUATION(every_call, "every call of the malloc family gives memory of its kind") {
  void *p = malloc(0);
  free(p);
  unsigned char *zeros = calloc(100, 10);
  for (int i = 0; i < 1000; i++) MUST(zeros[i] == 0);
  zeros = realloc(zeros, 5000);
  zeros = reallocarray(zeros, 100, 100);
  free(zeros);
  free(NULL);
  for (size_t alignment = 16; alignment <= 65536; alignment *= 2) {
    MUST(posix_memalign(&p, alignment, 100) == 0 && (uintptr_t)p % alignment == 0);
    free(p);
    p = aligned_alloc(alignment, alignment * 3);
    MUST((uintptr_t)p % alignment == 0);
    free(p);
    p = memalign(alignment, 33);
    MUST((uintptr_t)p % alignment == 0);
    free(p);
  }
  p = valloc(100);
  MUST((uintptr_t)p % 4096 == 0);
  free(p);
  p = pvalloc(100);
  MUST(malloc_usable_size(p) >= 4096);
  free(p);
  puts("given");
  return 0;
}
SITUATION(impossible_sizes, "sizes that nobody can give are refused, with errno") {
  volatile size_t huge = SIZE_MAX - 100, half = SIZE_MAX / 2;
  errno = 0;
  MUST(malloc(huge) == NULL && errno == ENOMEM);
  errno = 0;
  MUST(calloc(half, 4) == NULL && errno == ENOMEM);
  void *block = malloc(10);
  errno = 0;
  MUST(realloc(block, huge) == NULL && errno == ENOMEM);
  errno = 0;
  MUST(reallocarray(block, half, 4) == NULL && errno == ENOMEM);
  free(block);
  MUST(posix_memalign(&block, 24, 100) == EINVAL);
  puts("refused");
  return 0;
}
SITUATION(realloc_chain, "a block grows and shrinks 10,000 times and keeps its contents") {
  unsigned char *block = malloc(1);
  *block = 77;
  for (int i = 1; i < 10000; i++) {
    block = realloc(block, 1 + (size_t)(i * 7919 % 5000));
    MUST(block && *block == 77);
  }
  free(block);
  return 0;
}
SITUATION(large_blocks, "blocks of 100 MB are mapped and given back") {
  for (int i = 0; i < 20; i++) {
    char *block = malloc(100 << 20);
    MUST(block);
    block[i << 20] = 1;
    free(block);
  }
  return 0;
}
SITUATION(million_blocks, "a million blocks are there at once") {
  void **all = malloc(1000000 * sizeof *all);
  for (int i = 0; i < 1000000; i++) all[i] = malloc(16);
  for (int i = 999999; i >= 0; i--) free(all[i]);
  free(all);
  return 0;
}
SITUATION(double_free, "a block is freed twice") {
  setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
  void *volatile block = malloc(2000);
  free(block);
  free(block);
  return 0;
}
SITUATION(foreign_free, "what is no block is freed") {
  setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
  static char area[64];
  char *volatile inside = area + 16;
  free(inside);
  return 0;
}

static int limited(long megabytes) {
  struct rlimit limit;
  long pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  MUST(file && fscanf(file, "%ld", &pages) == 1);
  fclose(file);
  limit.rlim_cur = limit.rlim_max = (rlim_t)pages * 4096 + ((rlim_t)megabytes << 20);
  MUST(setrlimit(RLIMIT_AS, &limit) == 0);
  int failures = 0;
  for (int i = 0; i < 20; i++) {
    void *block = malloc(30000);
    failures += block == NULL;
    free(block);
  }
  snapshot();
  printf("%d failures\n", failures);
  return 0;
}
SITUATION(address_space_8m, "8 MB more of address space are all that the process may have") { return limited(8); }
SITUATION(address_space_64m, "64 MB more of address space are all that the process may have") { return limited(64); }
SITUATION(address_space_none, "the process may have no more address space") {
  void *block = malloc(1000);
  struct rlimit none = {0, 0};
  MUST(setrlimit(RLIMIT_AS, &none) == 0);
  for (int i = 0; i < 1000; i++) {
    free(block);
    block = malloc(1000);
    if (!block) break;
  }
  printf("%d\n", block != NULL);
  return 0;
}
SITUATION(address_space_threads, "threads begin while there is room for their stacks and little else") {
  pthread_t threads[4];
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 65536);
  allocate(1000);
  long pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  MUST(file && fscanf(file, "%ld", &pages) == 1);
  fclose(file);
  mallopt(M_ARENA_MAX, 1);
  struct rlimit limit = {(rlim_t)pages * 4096 + (1 << 20), (rlim_t)pages * 4096 + (1 << 20)};
  MUST(setrlimit(RLIMIT_AS, &limit) == 0);
  int made = 0, failed = 0;
  for (int i = 0; i < 4; i++) {
    if (pthread_create(&threads[made], &attributes, allocate_some, NULL) == 0) {
      void *result;
      pthread_join(threads[made], &result);
      failed += result != NULL;
      made++;
    }
  }
  printf("%d made, %d without memory\n", made, failed);
  return 0;
}
SITUATION(locked_memory, "all memory is locked, now and later") {
  allocate(100);
  if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0) return puts("not allowed"), 0;
  pthread_t thread;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 65536);
  for (int i = 0; i < 4; i++) {
    void *result;
    MUST(pthread_create(&thread, &attributes, allocate_some, NULL) == 0 && pthread_join(thread, &result) == 0 &&
         result == NULL);
  }
  snapshot();
  puts("allocated");
  return 0;
}
SITUATION(locked_memory_limit, "memory is locked under a limit") {
  struct rlimit limit = {64 << 20, 64 << 20};
  if (setrlimit(RLIMIT_MEMLOCK, &limit) != 0) return puts("not allowed"), 0;
  MUST(setresuid(65534, 65534, 65534) == 0);
  int result = mlockall(MCL_FUTURE);
  int failures = 0;
  for (int i = 0; i < 50; i++) {
    void *block = malloc(20000);
    failures += block == NULL;
    free(block);
  }
  printf("%d %d\n", result, failures);
  return 0;
}
SITUATION(data_limit, "the process may have 16 MB of data") {
  struct rlimit limit = {16 << 20, 16 << 20};
  MUST(setrlimit(RLIMIT_DATA, &limit) == 0);
  int failures = 0;
  for (int i = 0; i < 500; i++) {
    void *block = malloc(30000);
    failures += block == NULL;
    free(block);
  }
  printf("%d\n", failures);
  return 0;
}
SITUATION(mappings_many, "30,000 mappings are made, and protected one by one") {
  char *memory = mmap(NULL, 30000ul * 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  MUST(memory != MAP_FAILED);
  for (long i = 0; i < 30000; i++) MUST(mprotect(memory + i * 8192, 4096, PROT_READ) == 0);
  allocate(1000);
  snapshot();
  munmap(memory, 30000ul * 8192);
  return 0;
}
SITUATION(not_dumpable, "the process is not dumpable") {
  MUST(prctl(PR_SET_DUMPABLE, 0) == 0);
  allocate(1000);
  snapshot();
  printf("%d\n", prctl(PR_GET_DUMPABLE));
  return 0;
}
SITUATION(executable_unwritable, "no memory may be made executable any more") {
#ifdef PR_SET_MDWE
  if (prctl(PR_SET_MDWE, 1, 0, 0, 0) != 0) return puts("not known"), 0;
#endif
  allocate(1000);
  snapshot();
  void *library = dlopen("libm.so.6", RTLD_NOW);
  printf("%d\n", library != NULL);
  return 0;
}
SITUATION(images_come_and_go, "a library is opened and closed 200 times while a thread allocates") {
  for (int i = 0; i < 200; i++) {
    void *library = dlopen("libresolv.so.2", RTLD_NOW | RTLD_LOCAL);
    MUST(library);
    allocate(20);
    MUST(dlclose(library) == 0);
  }
  return 0;
}
SITUATION(images_in_namespaces, "the C library is loaded once more in a namespace of its own") {
  void *other = dlmopen(LM_ID_NEWLM, "libc.so.6", RTLD_NOW);
  MUST(other);
  void *(*otherMalloc)(size_t) = (void *(*)(size_t))dlsym(other, "malloc");
  void (*otherFree)(void *) = (void (*)(void *))dlsym(other, "free");
  MUST(otherMalloc && otherFree);
  for (int i = 0; i < 1000; i++) otherFree(otherMalloc(100));
  dlclose(other);
  puts("allocated");
  return 0;
}
static int count_images(struct dl_phdr_info *info, size_t size, void *count) {
  (void)size;
  if (!strstr(info->dlpi_name, "libleaktrace")) ++*(int *)count;
  return 0;
}
SITUATION(images_listed, "the program's images are listed") {
  int count = 0;
  dl_iterate_phdr(count_images, &count);
  printf("%d\n", count);
  return 0;
}
SITUATION(library_missing, "a library is not found, and dlerror says so") {
  MUST(dlopen("libnothing-of-that-name.so", RTLD_NOW) == NULL);
  printf("%s\n", dlerror());
  MUST(dlsym(RTLD_DEFAULT, "no_function_of_that_name") == NULL);
  printf("%d\n", dlerror() != NULL);
  return 0;
}
#if !__GLIBC_PREREQ(2, 33)
#define mallinfo2 mallinfo
#endif
SITUATION(heap_statistics, "the C library counts what the process allocated") {
  void *blocks[100];
  struct mallinfo2 before = mallinfo2();
  for (int i = 0; i < 100; i++) blocks[i] = malloc(1000);
  struct mallinfo2 after = mallinfo2();
  printf("%zu\n", (size_t)(after.uordblks - before.uordblks));
  for (int i = 0; i < 100; i++) free(blocks[i]);
  return 0;
}
SITUATION(environment_seen, "the process's environment holds nothing of the recorder") {
  extern char **environ;
  int found = 0;
  for (char **e = environ; *e; e++) found += strstr(*e, "leaktrace") != NULL || strncmp(*e, "LEAKTRACE_", 10) == 0;
  printf("%d\n", found);
  return 0;
}
SITUATION(out_of_memory_child, "a child is killed as the kernel does when memory is short") {
  pid_t child = fork();
  if (child == 0) {
    allocate(100);
    kill(getpid(), 9);
  }
  int status;
  MUST(waitpid(child, &status, 0) == child);
  printf("%d\n", WTERMSIG(status));
  return 0;
}
SITUATION(randomisation_off, "the program runs at fixed addresses") {
  extern char **environ;
  if (getenv("FIXED")) {
    allocate(1000);
    snapshot();
    puts("ran");
    return 0;
  }
  setenv("FIXED", "1", 1);
  MUST(syscall(135, 0x0040000) >= 0); // personality, ADDR_NO_RANDOMIZE
  execl("/proc/self/exe", "situations-memory", "randomisation_off", NULL);
  return 9;
}
