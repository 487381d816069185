#include "os/os.h"
#include "os/process_info.h"

#include "RecorderTest.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

// The number of threads, whose directory entries need more than one buffer.
enum { THREADS = 400 };
static uint32_t numbers[THREADS + 1];
static pthread_barrier_t begun, listed;

static void *wait_to_be_listed(void *number) {
  *(uint32_t *)number = (uint32_t)syscall(SYS_gettid);
  pthread_barrier_wait(&begun);
  pthread_barrier_wait(&listed);
  return NULL;
}

TEST(thread_list, "Each of hundreds of threads is listed once") {
  pthread_t threads[THREADS];
  pthread_barrier_init(&begun, NULL, THREADS + 1);
  pthread_barrier_init(&listed, NULL, THREADS + 1);
  numbers[THREADS] = (uint32_t)getpid();
  for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, wait_to_be_listed, &numbers[i]);
  pthread_barrier_wait(&begun);

  int timesSeen[THREADS + 1] = {0};
  struct lt_thread_list list;
  EXPECT(lt_thread_list_open(&list, getpid()) == 0);
  for (uint32_t thread; (thread = lt_thread_list_next(&list)) != 0;) {
    int i = 0;
    while (i <= THREADS && numbers[i] != thread) i++;
    if (i <= THREADS) timesSeen[i]++;
  }
  lt_thread_list_close(&list);
  for (int i = 0; i <= THREADS; i++) EXPECT(timesSeen[i] == 1);

  pthread_barrier_wait(&listed);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
}

TEST(thread_list_of_nobody, "A process that is not there has no list") {
  struct lt_thread_list list;
  EXPECT(lt_thread_list_open(&list, 1 << 30) < 0);
}
