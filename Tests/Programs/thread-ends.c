// 200 threads, 8 at a time, that end with a few events each, and allocate in the destructors of their thread-local
// storage.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_key_t keys[4];
static atomic_int destroyed;

static void destroy(void *value) {
  destroyed++;
  free(value);
  free(malloc(77));
  // Comes back for another round of destructors.
  static __thread int rounds;
  if (rounds < 2 && pthread_getspecific(keys[3]) == NULL) {
    rounds++;
    pthread_setspecific(keys[3], malloc(88));
  }
}

static void *work(void *unused) {
  (void)unused;
  for (int i = 0; i < 3; i++) pthread_setspecific(keys[i], malloc(33));
  for (int i = 0; i < 5; i++) free(malloc(44));
  return NULL;
}

int main(void) {
  for (int i = 0; i < 4; i++) pthread_key_create(&keys[i], destroy);
  for (int batch = 0; batch < 25; batch++) {
    pthread_t threads[8];
    for (int i = 0; i < 8; i++) pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 8; i++) pthread_join(threads[i], NULL);
  }
  printf("%d destructors ran\n", destroyed);
  return 0;
}
