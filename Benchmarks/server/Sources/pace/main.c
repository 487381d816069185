// Sends HTTP requests to a server on this machine at a fixed rate, which does not depend on the responses.
// Usage: pace PORT RATE WARMUP SECONDS CONNECTIONS
//
// Request i is due i / RATE seconds after the start, and its latency counts from that time. So a pause of the server
// also delays the requests that become due during the pause. A request waits if there is no free connection. Requests
// that are due in the first WARMUP seconds are not measured. Prints the number of measured requests, and the latencies
// p50, p99, p99.9 and maximum in microseconds. The exit status is 1 if any request failed or did not get status 200.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { maximum_connections = 1024, response_capacity = 16384, timeout_ms = 30000 };

struct connection {
  int socket;
  long request; ///< number of the current request
  size_t received;
  char response[response_capacity + 1];
};

static struct connection connections[maximum_connections];
static struct connection *idle[maximum_connections];
static int idle_count;
static double nanoseconds_per_request;
static int64_t beginning;
static long warmups, requests, next_request, answered, failed;
static double *latencies;

static void fail(const char *what) {
  fprintf(stderr, "pace: %s: %s\n", what, strerror(errno));
  exit(1);
}

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static int64_t due(long request) { return beginning + (int64_t)((double)request * nanoseconds_per_request); }

// A request fits into any socket's buffer. Every second one is an order.
static void send_request(struct connection *connection, long number) {
  char request[512], body[128];
  if (number % 2 == 0) {
    snprintf(request, sizeof request, "GET /products/%ld HTTP/1.1\r\nHost: localhost\r\n\r\n", number * 7919 % 500);
  } else {
    int length = snprintf(body, sizeof body, "{\"product\":%ld,\"quantity\":%ld,\"customer\":\"customer number %ld\"}",
                          number * 7919 % 500, number % 9 + 1, number);
    snprintf(
        request, sizeof request,
        "POST /orders HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
        length, body);
  }
  connection->request = number;
  connection->received = 0;
  if (send(connection->socket, request, strlen(request), MSG_NOSIGNAL) != (ssize_t)strlen(request)) fail("send");
}

static void send_due_requests(void) {
  while (next_request < requests && idle_count > 0 && due(next_request) <= now())
    send_request(idle[--idle_count], next_request++);
}

static bool is_complete(const struct connection *connection) {
  const char *end = strstr(connection->response, "\r\n\r\n");
  const char *length = strcasestr(connection->response, "\r\ncontent-length:");
  if (end == NULL || length == NULL || length > end) return false;
  return connection->received >=
         (size_t)(end + 4 - connection->response) + strtoul(length + strlen("\r\ncontent-length:"), NULL, 10);
}

static void receive(struct connection *connection) {
  ssize_t length = recv(connection->socket, connection->response + connection->received,
                        response_capacity - connection->received, 0);
  if (length < 0) fail("recv");
  if (length == 0) {
    errno = ECONNRESET;
    fail("recv");
  }
  connection->received += (size_t)length;
  connection->response[connection->received] = 0;
  if (!is_complete(connection)) return;
  if (strncmp(connection->response, "HTTP/1.1 200", 12) == 0) answered++;
  else failed++;
  if (connection->request >= warmups)
    latencies[connection->request - warmups] = (double)(now() - due(connection->request)) / 1000;
  idle[idle_count++] = connection;
}

static int compare(const void *left, const void *right) {
  double difference = *(const double *)left - *(const double *)right;
  return difference < 0 ? -1 : difference > 0;
}

/// The latency below which this fraction of the requests lies.
static double percentile(long count, double fraction) {
  long index = (long)((double)count * fraction);
  return latencies[index < count ? index : count - 1];
}

static void watch(int poller, int descriptor, void *pointer) {
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = pointer};
  if (epoll_ctl(poller, EPOLL_CTL_ADD, descriptor, &event) != 0) fail("epoll_ctl");
}

int main(int count, char **arguments) {
  double rate = count == 6 ? atof(arguments[2]) : 0;
  int concurrent = count == 6 ? atoi(arguments[5]) : 0;
  if (rate <= 0 || concurrent < 1 || concurrent > maximum_connections || atof(arguments[4]) * rate < 1) {
    fprintf(stderr, "usage: pace PORT RATE WARMUP SECONDS CONNECTIONS\n");
    return 64;
  }
  struct sockaddr_in server = {.sin_family = AF_INET,
                               .sin_port = htons((uint16_t)atoi(arguments[1])),
                               .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  nanoseconds_per_request = 1e9 / rate;
  warmups = (long)(atof(arguments[3]) * rate);
  long measured = (long)(atof(arguments[4]) * rate);
  requests = warmups + measured;
  latencies = calloc((size_t)measured, sizeof *latencies);
  int poller = epoll_create1(EPOLL_CLOEXEC), timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
  if (latencies == NULL || poller < 0 || timer < 0) fail("setup");
  watch(poller, timer, NULL);
  for (int index = 0; index < concurrent; index++) {
    struct connection *connection = &connections[index];
    connection->socket = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connection->socket < 0) fail("socket");
    if (connect(connection->socket, (struct sockaddr *)&server, sizeof server) != 0) fail("connect");
    setsockopt(connection->socket, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    watch(poller, connection->socket, connection);
    idle[idle_count++] = connection;
  }

  beginning = now() + 100000000;
  while (answered + failed < requests) {
    if (next_request < requests && idle_count > 0) {
      int64_t at = due(next_request);
      struct itimerspec setting = {.it_value = {.tv_sec = at / 1000000000, .tv_nsec = at % 1000000000}};
      if (timerfd_settime(timer, TFD_TIMER_ABSTIME, &setting, NULL) != 0) fail("timerfd_settime");
    }
    struct epoll_event events[64];
    int ready = epoll_wait(poller, events, 64, timeout_ms);
    if (ready == 0) errno = ETIMEDOUT;
    if (ready <= 0 && errno != EINTR) fail("epoll_wait");
    for (int index = 0; index < ready; index++) {
      if (events[index].data.ptr != NULL) {
        receive(events[index].data.ptr);
      } else {
        uint64_t expirations;
        if (read(timer, &expirations, sizeof expirations) < 0 && errno != EAGAIN) fail("read");
      }
    }
    send_due_requests();
  }
  qsort(latencies, (size_t)measured, sizeof *latencies, compare);
  printf("%ld %.1f %.1f %.1f %.1f\n", measured, percentile(measured, 0.5), percentile(measured, 0.99),
         percentile(measured, 0.999), latencies[measured - 1]);
  return failed == 0 ? 0 : 1;
}
