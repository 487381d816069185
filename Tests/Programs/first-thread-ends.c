// The first thread ends, and another one goes on until a signal.

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static void *go_on(void *unused) {
  (void)unused;
  pause();
  return NULL;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, go_on, NULL);
  pthread_exit(NULL);
}
