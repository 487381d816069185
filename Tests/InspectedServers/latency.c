// Sends requests to a server at a constant rate, and measures how long the answers take.
//
// Usage: latency PORT RATE SECONDS CALLS [PATH]
// RATE is the number of requests in a second. CALLS requests for PATH (default: /debug/tasks) are spread over the time.
// Prints the times of the answers in milliseconds (median, 99 %, 99.9 %, longest), and the times of the calls. If there
// are calls, a second line has the same times of the requests that were due during a call, and of all others.
//
// The time of an answer begins when its request is due. So a request that waits for a connection counts in full.

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
  CONNECTIONS = 32,
  HEAD_LIMIT = 4096,
  CALL_LIMIT = 64,
  ROOM = 1 << 16,
  PATIENCE = 60, ///< seconds for the last answers
};

struct connection {
  int socket;
  bool isBusy;
  int64_t due;
  char head[HEAD_LIMIT]; ///< the beginning of the answer, until the length of its body is known
  size_t headSize;
  int64_t bodyLeft; ///< bytes; -1 until known
};

static void fail(const char *what) {
  fprintf(stderr, "latency: %s: %s\n", what, strerror(errno));
  exit(1);
}

static int64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void open_connection(struct connection *c, int port) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  c->socket = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  int yes = 1;
  if (c->socket < 0 || connect(c->socket, (struct sockaddr *)&address, sizeof address) != 0) fail("connect");
  setsockopt(c->socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  fcntl(c->socket, F_SETFL, O_NONBLOCK);
}

static void send_request(struct connection *c, const char *path, int64_t due) {
  char text[512];
  int length = snprintf(text, sizeof text, "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", path);
  if (send(c->socket, text, (size_t)length, MSG_NOSIGNAL) != length) fail("send");
  c->isBusy = true;
  c->due = due;
  c->headSize = 0;
  c->bodyLeft = -1;
}

/// Reads the head of an answer, if it is whole.
static void read_head(struct connection *c) {
  c->head[c->headSize] = 0;
  char *end = strstr(c->head, "\r\n\r\n"), *line = strcasestr(c->head, "content-length:");
  if (!end) return;
  if (strncmp(c->head, "HTTP/1.1 200", 12) != 0 || !line || line > end) {
    fprintf(stderr, "latency: unexpected answer: %.80s\n", c->head);
    exit(1);
  }
  c->bodyLeft =
      strtoll(line + strlen("content-length:"), NULL, 10) - (int64_t)(c->headSize - (size_t)(end + 4 - c->head));
}

/// Returns true if the answer is whole.
static bool receive(struct connection *c) {
  static char room[ROOM];
  for (;;) {
    bool isHead = c->bodyLeft < 0;
    ssize_t count =
        recv(c->socket, isHead ? c->head + c->headSize : room, isHead ? HEAD_LIMIT - 1 - c->headSize : ROOM, 0);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return false;
    if (count <= 0) fail("recv");
    if (isHead) {
      c->headSize += (size_t)count;
      read_head(c);
    } else {
      c->bodyLeft -= count;
    }
    if (c->bodyLeft == 0) {
      c->isBusy = false;
      return true;
    }
  }
}

static int compare(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

static double milliseconds(const int64_t *sorted, size_t count, double part) {
  size_t index = (size_t)((double)count * part);
  return (double)sorted[index < count ? index : count - 1] / 1e6;
}

static void print_times(int64_t *times, size_t count) {
  qsort(times, count, sizeof *times, compare);
  printf("%.3f %.3f %.3f %.3f", milliseconds(times, count, 0.5), milliseconds(times, count, 0.99),
         milliseconds(times, count, 0.999), milliseconds(times, count, 1));
}

int main(int argc, char **argv) {
  if (argc < 5) {
    fprintf(stderr, "usage: latency PORT RATE SECONDS CALLS [PATH]\n");
    return 64;
  }
  int port = atoi(argv[1]), callCount = atoi(argv[4]);
  int64_t rate = atoll(argv[2]), seconds = atoll(argv[3]);
  const char *path = argc > 5 ? argv[5] : "/debug/tasks";
  if (rate < 1 || seconds < 1 || callCount < 0 || callCount > CALL_LIMIT) return 64;
  // The load must not wait for a processor itself. Only root may ask for this.
  sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){.sched_priority = 1});

  static struct connection connections[CONNECTIONS + 1]; // the last one is for calls
  struct pollfd polled[CONNECTIONS + 1];
  for (int i = 0; i <= CONNECTIONS; i++) {
    open_connection(&connections[i], port);
    polled[i] = (struct pollfd){.fd = connections[i].socket, .events = POLLIN};
  }
  size_t total = (size_t)(rate * seconds), sent = 0, answered = 0;
  int called = 0, returned = 0;
  int64_t *times = calloc(total, sizeof *times), *dues = calloc(total, sizeof *dues);
  int64_t calls[CALL_LIMIT], begins[CALL_LIMIT];
  if (!times || !dues) fail("calloc");
  const int64_t start = now(), step = 1000000000 / rate, span = seconds * 1000000000;
  struct connection *caller = &connections[CONNECTIONS];
  while (answered < total || returned < callCount) {
    int64_t time = now();
    if (time - start > span + (int64_t)PATIENCE * 1000000000) {
      fprintf(stderr, "latency: answers are missing\n");
      return 1;
    }
    int64_t due = start + (int64_t)sent * step;
    for (int i = 0; i < CONNECTIONS && sent < total && due <= time; i++) {
      if (connections[i].isBusy) continue;
      send_request(&connections[i], "/products/7", due);
      due = start + (int64_t)++sent * step;
    }
    // The calls are in the middle of equal parts of the time.
    int64_t nextCall = start + span * (2 * called + 1) / (2 * (callCount > 0 ? callCount : 1));
    if (called < callCount && !caller->isBusy && nextCall <= time) {
      send_request(caller, path, time);
      called++;
    }
    int64_t wait = sent < total ? due - now() : 1000000;
    if (wait < 0) wait = answered < sent ? 100000 : 0;
    const struct timespec timeout = {.tv_nsec = wait < 999999999 ? wait : 999999999};
    int ready = ppoll(polled, CONNECTIONS + 1, &timeout, NULL);
    if (ready < 0 && errno != EINTR) fail("ppoll");
    for (int i = 0; ready > 0 && i <= CONNECTIONS; i++) {
      if (!polled[i].revents || !connections[i].isBusy || !receive(&connections[i])) continue;
      int64_t elapsed = now() - connections[i].due;
      if (i == CONNECTIONS) {
        begins[returned] = connections[i].due;
        calls[returned++] = elapsed;
      } else {
        dues[answered] = connections[i].due;
        times[answered++] = elapsed;
      }
    }
  }
  int64_t *parts[2] = {calloc(total, sizeof *times), calloc(total, sizeof *times)};
  size_t counts[2] = {0};
  if (!parts[0] || !parts[1]) fail("calloc");
  for (size_t i = 0; i < total; i++) {
    int isOutside = 1;
    for (int k = 0; k < callCount; k++)
      if (dues[i] >= begins[k] && dues[i] <= begins[k] + calls[k]) isOutside = 0;
    parts[isOutside][counts[isOutside]++] = times[i];
  }
  print_times(times, total);
  for (int i = 0; i < callCount; i++) printf(" %.0f", (double)calls[i] / 1e6);
  printf("\n");
  if (callCount > 0 && counts[0] > 0 && counts[1] > 0) {
    print_times(parts[0], counts[0]);
    printf(" ");
    print_times(parts[1], counts[1]);
    printf("\n");
  }
  return 0;
}
