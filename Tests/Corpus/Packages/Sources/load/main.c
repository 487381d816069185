// Sends HTTP requests to a server on this machine: load PORT REQUESTS CONNECTIONS orders|sessions "orders" keeps the
// connections and alternates between looking at a product and ordering it, "sessions" makes a connection for each
// request. Prints how many were answered with 200; ends with 1 if not all were.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { maximum_connections = 1024, response_capacity = 16384 };

struct connection {
  int socket;
  size_t received;
  char response[response_capacity + 1];
};

static struct connection connections[maximum_connections];
static struct sockaddr_in server = {.sin_family = AF_INET};
static bool keeps_connections;
static int poller;
static long requests, sent, answered, failed;

static void fail(const char *what) {
  fprintf(stderr, "load: %s: %s\n", what, strerror(errno));
  exit(1);
}

// Requests are small enough for any socket's buffer.
static void send_request(struct connection *connection) {
  char request[512], body[128];
  long number = sent++;
  if (!keeps_connections) {
    snprintf(request, sizeof request, "GET /visit/%ld HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
             number);
  } else if (number % 2 == 0) {
    snprintf(request, sizeof request, "GET /products/%ld HTTP/1.1\r\nHost: localhost\r\n\r\n", number * 7919 % 500);
  } else {
    int length = snprintf(body, sizeof body, "{\"product\":%ld,\"quantity\":%ld,\"customer\":\"customer number %ld\"}",
                          number * 7919 % 500, number % 9 + 1, number);
    snprintf(
        request, sizeof request,
        "POST /orders HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
        length, body);
  }
  connection->received = 0;
  if (send(connection->socket, request, strlen(request), MSG_NOSIGNAL) != (ssize_t)strlen(request)) fail("send");
}

static void open_connection(struct connection *connection) {
  connection->socket = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connection->socket < 0) fail("socket");
  if (connect(connection->socket, (struct sockaddr *)&server, sizeof server) != 0) fail("connect");
  setsockopt(connection->socket, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = connection};
  if (epoll_ctl(poller, EPOLL_CTL_ADD, connection->socket, &event) != 0) fail("epoll_ctl");
}

static bool is_complete(const struct connection *connection) {
  const char *end = strstr(connection->response, "\r\n\r\n");
  const char *length = strcasestr(connection->response, "\r\ncontent-length:");
  if (end == NULL || length == NULL || length > end) return false;
  return connection->received >=
         (size_t)(end + 4 - connection->response) + strtoul(length + strlen("\r\ncontent-length:"), NULL, 10);
}

static void finish(struct connection *connection) {
  if (strncmp(connection->response, "HTTP/1.1 200", 12) == 0) answered++;
  else failed++;
  if (keeps_connections) {
    if (sent < requests) send_request(connection);
    return;
  }
  close(connection->socket);
  if (sent >= requests) return;
  open_connection(connection);
  send_request(connection);
}

// A response to a connection that is not kept ends with it, so that the server has seen the end of every one.
static void receive(struct connection *connection) {
  ssize_t length = recv(connection->socket, connection->response + connection->received,
                        response_capacity - connection->received, 0);
  if (length < 0) fail("recv");
  if (length == 0 && keeps_connections) {
    errno = ECONNRESET;
    fail("recv");
  }
  connection->received += (size_t)length;
  connection->response[connection->received] = 0;
  if (keeps_connections ? is_complete(connection) : length == 0) finish(connection);
}

int main(int count, char **arguments) {
  if (count != 5 || (strcmp(arguments[4], "orders") != 0 && strcmp(arguments[4], "sessions") != 0)) {
    fprintf(stderr, "usage: load PORT REQUESTS CONNECTIONS orders|sessions\n");
    return 64;
  }
  server.sin_port = htons((uint16_t)atoi(arguments[1]));
  server.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  requests = atol(arguments[2]);
  int concurrent = atoi(arguments[3]);
  if (concurrent > maximum_connections) concurrent = maximum_connections;
  if (concurrent > requests) concurrent = (int)requests;
  keeps_connections = strcmp(arguments[4], "orders") == 0;
  poller = epoll_create1(EPOLL_CLOEXEC);
  if (poller < 0) fail("epoll_create1");

  for (int index = 0; index < concurrent; index++) {
    open_connection(&connections[index]);
    send_request(&connections[index]);
  }
  while (answered + failed < requests) {
    struct epoll_event events[64];
    int ready = epoll_wait(poller, events, 64, 30000);
    if (ready == 0) errno = ETIMEDOUT;
    if (ready <= 0 && errno != EINTR) fail("epoll_wait");
    for (int index = 0; index < ready; index++) receive(events[index].data.ptr);
  }
  printf("%ld requests answered, %ld failed\n", answered, failed);
  return failed == 0 ? 0 : 1;
}
