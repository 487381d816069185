// Situations of the kernel's features: memory of special kinds, counters, signals, timers, rings and events.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <linux/io_uring.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/fanotify.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

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
/// The kind P_PIDFD of waitid.
enum { BY_DESCRIPTOR = 3 };

enum { PAGE = 4096, MDROPPABLE = 0x08, CALL_SECRET = 447, CALL_SEAL = 462, FAULT_ON_CPUID = 0x1012 };

static void nap(long milliseconds) {
  struct timespec rest = {milliseconds / 1000, milliseconds % 1000 * 1000000};
  while (nanosleep(&rest, &rest) != 0 && errno == EINTR) {}
}
static int take_images(void) {
  do {
    snapshot();
    allocate(1000);
    nap(20);
  } while (goes_on());
  return 0;
}

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
  allocate(10);
  if (syscall(SYS_arch_prctl, FAULT_ON_CPUID, 0) != 0) return 77;
  take_images();
  puts("went on");
  return 0;
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

// --- signals and timers ----------------------------------------------------------------------------------------------

static volatile sig_atomic_t counts[65];
static void count(int signal) { counts[signal]++; }
SITUATION(all_signals, "the process handles all 64 signals, those of the C library's too") {
  struct {
    void (*handler)(int);
    unsigned long flags;
    void (*restorer)(void);
    unsigned long mask;
  } own;
  for (int i = 1; i <= 64; i++) {
    if (i == SIGKILL || i == SIGSTOP) continue;
    // The kernel's structure: the C library keeps two of the signals.
    MUST(syscall(SYS_rt_sigaction, SIGUSR1, NULL, &own, 8) == 0);
    if (i == 32 || i == 33) {
      struct sigaction any = {.sa_handler = count};
      sigaction(SIGUSR2, &any, NULL);
      MUST(syscall(SYS_rt_sigaction, SIGUSR2, NULL, &own, 8) == 0);
      MUST(syscall(SYS_rt_sigaction, i, &own, NULL, 8) == 0);
    } else {
      struct sigaction action = {.sa_handler = count};
      MUST(sigaction(i, &action, NULL) == 0);
    }
  }
  int rounds = 0, wrong = 0;
  do {
    snapshot();
    for (int i = 1; i <= 64; i++)
      if (i != SIGKILL && i != SIGSTOP) syscall(SYS_tgkill, getpid(), gettid(), i);
    rounds++;
    nap(10);
  } while (goes_on());
  for (int i = 1; i <= 64; i++) wrong += i != SIGKILL && i != SIGSTOP && counts[i] != rounds;
  printf("%d with a wrong count\n", wrong);
  // Handlers that end nothing: the process ends by itself.
  return 0;
}
SITUATION(alarms, "an alarm comes every millisecond, and waits are resumed after it") {
  struct sigaction action = {.sa_handler = count, .sa_flags = SA_RESTART};
  sigaction(SIGALRM, &action, NULL);
  struct itimerval each = {{0, 1000}, {0, 1000}};
  int pipes[2], errors = 0;
  MUST(pipe2(pipes, O_CLOEXEC) == 0);
  setitimer(ITIMER_REAL, &each, NULL);
  do {
    char byte = 'x';
    nap(5);
    free(malloc(100));
    errors += write(pipes[1], &byte, 1) != 1 || read(pipes[0], &byte, 1) != 1;
    snapshot();
  } while (goes_on());
  setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
  printf("%d errors, %s\n", errors, counts[SIGALRM] > 0 ? "alarms" : "no alarm");
  return 0;
}
static void count_and_allocate(int signal) {
  counts[signal]++;
  free(malloc(64));
}
SITUATION(profiling_timer, "a profiler's timer interrupts the process every millisecond, and allocates") {
  struct sigaction action = {.sa_handler = count_and_allocate, .sa_flags = SA_RESTART};
  sigaction(SIGPROF, &action, NULL);
  struct itimerval each = {{0, 1000}, {0, 1000}};
  setitimer(ITIMER_PROF, &each, NULL);
  double begin = seconds_now();
  do {
    for (volatile int i = 0; i < 100000; i++) {}
    char *block = malloc(100);
    (void)*(volatile char **)&block;
    free(block);
  } while (goes_on() || seconds_now() - begin < 0.2);
  snapshot();
  setitimer(ITIMER_PROF, &(struct itimerval){0}, NULL);
  puts(counts[SIGPROF] > 0 ? "profiled" : "not profiled");
  return 0;
}

// --- stacks ----------------------------------------------------------------------------------------------------------

static ucontext_t scheduler[2], tasks[8];
static int wanderings;
static _Thread_local int lane;
static void wander(void) {
  for (;;) {
    free(malloc(100));
    wanderings++;
    swapcontext(&tasks[lane], &scheduler[0]);
  }
}
SITUATION(switched_stacks, "all work is done on stacks that the program switches, and its own is not in use") {
  enum { SIZE = 256 << 10 };
  for (int i = 0; i < 8; i++) {
    getcontext(&tasks[i]);
    tasks[i].uc_stack.ss_sp =
        mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
    tasks[i].uc_stack.ss_size = SIZE;
    makecontext(&tasks[i], wander, 0);
  }
  do {
    for (int i = 0; i < 80; i++) {
      lane = i % 8;
      swapcontext(&scheduler[0], &tasks[lane]);
    }
    snapshot();
    nap(1);
  } while (goes_on());
  printf("%d left over\n", wanderings % 80);
  return 0;
}
static double longestGap;
static __attribute__((noinline)) int descend(int depth) {
  volatile int here = depth;
  if (depth > 0) return descend(depth - 1) + here;
  double last = seconds_now();
  do {
    free(malloc(100));
    usleep(1000);
    double now = seconds_now();
    if (now - last > longestGap) longestGap = now - last;
    last = now;
  } while (goes_on());
  snapshot();
  return here;
}
SITUATION(deep_stack_waits, "a thread with 100,000 callers is held up for half a second at most") {
  descend(100000);
  printf("%s\n", longestGap < 0.5 ? "in time" : "late");
  return 0;
}
/// Replaces this program by another, and tells that one so by a variable. Returns only if that fails.
static int run_again(const char *path, const char *situation) {
  setenv("SITUATION_COUNT", "1", 1);
  execl(path, path, situation, (char *)NULL);
  return 99;
}
static bool runs_again(void) { return getenv("SITUATION_COUNT"); }
static int go_on(void) {
  take_images();
  puts("went on");
  return 0;
}
SITUATION(large_stack_limit, "the program runs again with an unlimited stack, and its memory is laid out anew") {
  if (runs_again()) return go_on();
  struct rlimit limit;
  MUST(getrlimit(RLIMIT_STACK, &limit) == 0);
  limit.rlim_cur = limit.rlim_max;
  MUST(setrlimit(RLIMIT_STACK, &limit) == 0);
  return run_again("/proc/self/exe", "large_stack_limit");
}
SITUATION(small_stack_limit, "the program runs again with a stack of 128 KiB") {
  if (runs_again()) return go_on();
  struct rlimit limit = {128 << 10, 128 << 10};
  MUST(setrlimit(RLIMIT_STACK, &limit) == 0);
  return run_again("/proc/self/exe", "small_stack_limit");
}
SITUATION(readable_is_executable, "the program runs again with all its memory executable (READ_IMPLIES_EXEC)") {
  if (runs_again()) return go_on();
  MUST(personality(READ_IMPLIES_EXEC) >= 0);
  return run_again("/proc/self/exe", "readable_is_executable");
}
SITUATION(executable_removed, "the program's file is replaced by another while it runs") {
  if (runs_again()) {
    MUST(unlink("copied") == 0 && system("cp /bin/true copied") == 0);
    return go_on();
  }
  MUST(system("cp /proc/$PPID/exe ./copied && chmod 755 copied") == 0);
  return run_again("./copied", "executable_removed");
}

static void *image_later(void *unused) {
  for (int i = 0; i < 3; i++) {
    nap(150);
    snapshot();
  }
  return unused;
}

// --- threads ---------------------------------------------------------------------------------------------------------

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *wait_for_lock(void *unused) {
  free(malloc(100));
  pthread_mutex_lock(&lock);
  pthread_mutex_unlock(&lock);
  return unused;
}
SITUATION(threads_5000_at_once, "5,000 threads are there at once") {
  enum { COUNT = 5000 };
  static pthread_t threads[COUNT];
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 64 << 10);
  pthread_mutex_lock(&lock);
  for (int i = 0; i < COUNT; i++)
    if (pthread_create(&threads[i], &attributes, wait_for_lock, NULL) != 0) return 77;
  snapshot();
  take_images();
  pthread_mutex_unlock(&lock);
  for (int i = 0; i < COUNT; i++) pthread_join(threads[i], NULL);
  puts("joined");
  return 0;
}
static void *make_threads(void *flag) {
  while (!*(volatile int *)flag) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, allocate_some, NULL) == 0) pthread_join(thread, NULL);
  }
  return NULL;
}
SITUATION(threads_end_always, "threads begin and end all the time while images are taken") {
  static volatile int isOver;
  pthread_t makers[4];
  for (int i = 0; i < 4; i++) MUST(pthread_create(&makers[i], NULL, make_threads, (void *)&isOver) == 0);
  take_images();
  isOver = 1;
  for (int i = 0; i < 4; i++) pthread_join(makers[i], NULL);
  puts("joined");
  return 0;
}
static void *run_programs(void *flag) {
  long failures = 0;
  while (!*(volatile int *)flag) {
    pid_t child = vfork();
    if (child == 0) {
      execl("/bin/true", "true", (char *)NULL);
      _exit(9);
    }
    int status = 1;
    failures += child < 0 || waitpid(child, &status, 0) != child || status != 0;
  }
  return (void *)failures;
}
SITUATION(vfork_loops, "two threads run programs by vfork all the time while images are taken") {
  static volatile int isOver;
  pthread_t runners[2];
  for (int i = 0; i < 2; i++) MUST(pthread_create(&runners[i], NULL, run_programs, (void *)&isOver) == 0);
  take_images();
  isOver = 1;
  for (int i = 0; i < 2; i++) {
    void *failures;
    pthread_join(runners[i], &failures);
    printf("%ld failures\n", (long)failures);
  }
  return 0;
}
struct clone_request { // struct clone_args of Linux, its first version
  uint64_t flags, pidfd, child, parent, exitSignal, stack, stackSize, tls;
};
SITUATION(clone3_cleared, "children of clone3 begin with default handlers and a descriptor of themselves") {
  signal(SIGTERM, SIG_IGN);
  struct sigaction action = {.sa_handler = count};
  sigaction(SIGUSR1, &action, NULL);
  int others = 0;
  do {
    int descriptor = -1;
    struct clone_request request = {
        .flags = 0x100000000ull | CLONE_PIDFD, .pidfd = (uintptr_t)&descriptor, .exitSignal = SIGCHLD};
    pid_t child = (pid_t)syscall(SYS_clone3, &request, sizeof request);
    MUST(child >= 0);
    if (child == 0) {
      free(malloc(100));
      raise(SIGUSR1);
      _exit(1);
    }
    snapshot();
    siginfo_t information = {0};
    struct pollfd ready = {descriptor, POLLIN, 0};
    while (poll(&ready, 1, -1) != 1) {}
    MUST(waitid((idtype_t)BY_DESCRIPTOR, (id_t)descriptor, &information, WEXITED) == 0);
    others += information.si_code != CLD_KILLED || information.si_status != SIGUSR1;
    close(descriptor);
  } while (goes_on());
  printf("%d other ends\n", others);
  return 0;
}

// --- waits -----------------------------------------------------------------------------------------------------------

enum { LONG_SECONDS = 60, DELAY_MILLISECONDS = 700 };
static int listener;
static void *accept_later(void *unused) {
  nap(DELAY_MILLISECONDS);
  for (int i = 0; i < 2; i++) MUST(accept4(listener, NULL, NULL, SOCK_CLOEXEC) >= 0);
  return unused;
}
static void *take_later(void *socket) {
  char message[1000];
  nap(DELAY_MILLISECONDS);
  while (recv(*(int *)socket, message, sizeof message, MSG_DONTWAIT) > 0) {}
  return NULL;
}
static void limit_sends(int socket) {
  struct timeval limit = {LONG_SECONDS, 0};
  MUST(setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit) == 0);
}
static int socket_of(int type) {
  int made = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
  MUST(made >= 0);
  return made;
}
SITUATION(limited_sends, "connect and sendmmsg wait under a limit of time, and nothing interrupts them") {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "leaktrace-situation-%d", (int)getpid());
  do {
    pthread_t thread, other;
    pthread_create(&other, NULL, image_later, NULL);
    listener = socket_of(SOCK_STREAM);
    MUST(bind(listener, (struct sockaddr *)&address, sizeof address) == 0 && listen(listener, 0) == 0);
    int first = socket_of(SOCK_STREAM), second = socket_of(SOCK_STREAM), ends[2];
    MUST(connect(first, (struct sockaddr *)&address, sizeof address) == 0);
    limit_sends(second);
    MUST(pthread_create(&thread, NULL, accept_later, NULL) == 0);
    MUST(connect(second, (struct sockaddr *)&address, sizeof address) == 0);
    pthread_join(thread, NULL);
    close(listener), close(first), close(second);

    MUST(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, ends) == 0);
    limit_sends(ends[0]);
    char bytes[1000] = "";
    struct iovec piece = {bytes, sizeof bytes};
    struct mmsghdr message = {.msg_hdr = {.msg_iov = &piece, .msg_iovlen = 1}};
    while (send(ends[0], bytes, sizeof bytes, MSG_DONTWAIT) > 0) {}
    MUST(pthread_create(&thread, NULL, take_later, &ends[1]) == 0);
    MUST(sendmmsg(ends[0], &message, 1, 0) == 1);
    pthread_join(thread, NULL);
    pthread_join(other, NULL);
    close(ends[0]), close(ends[1]);
  } while (goes_on());
  puts("sent");
  return 0;
}
enum { TRANSFER = 1 << 20 };
static int transfers[2];
static void *take_slowly(void *unused) {
  static char bytes[16 << 10];
  while (read(transfers[0], bytes, sizeof bytes) > 0) usleep(500);
  return unused;
}
SITUATION(large_writes, "blocking writes of a megabyte to a pipe are written as a whole") {
  static char bytes[TRANSFER];
  pthread_t thread, other;
  int parts = 0;
  MUST(pipe2(transfers, O_CLOEXEC) == 0);
  MUST(pthread_create(&thread, NULL, take_slowly, NULL) == 0);
  pthread_create(&other, NULL, image_later, NULL);
  do {
    for (int i = 0; i < 20; i++) parts += write(transfers[1], bytes, sizeof bytes) != sizeof bytes;
  } while (goes_on());
  close(transfers[1]);
  pthread_join(thread, NULL);
  pthread_join(other, NULL);
  puts(parts ? "in parts" : "as a whole");
  return 0;
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
