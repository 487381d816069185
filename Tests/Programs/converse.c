// Speaks a language server's protocol with a command: sends it the messages of standard input one by one, waits for the
// answer to each that has an "id", and prints the answers' ids. Ends as the command ended.
// Usage: converse COMMAND ARGUMENT...
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/// Reads one message; NULL at the end. The caller frees it.
static char *readMessage(FILE *stream) {
  char line[256];
  size_t length = 0;
  while (fgets(line, sizeof line, stream) != NULL) {
    if (strncmp(line, "Content-Length:", 15) == 0) length = strtoul(line + 15, NULL, 10);
    if (line[0] == '\r' || line[0] == '\n') break;
  }
  if (length == 0) return NULL;
  char *body = malloc(length + 1);
  if (fread(body, 1, length, stream) != length) {
    free(body);
    return NULL;
  }
  body[length] = 0;
  return body;
}

/// The number of a message; -1 if it has none.
static long messageNumber(const char *body) {
  const char *field = strstr(body, "\"id\":");
  return field == NULL ? -1 : strtol(field + 5, NULL, 10);
}

int main(int argc, char **argv) {
  if (argc < 2) return 2;
  signal(SIGPIPE, SIG_IGN);
  int to[2], from[2];
  if (pipe(to) != 0 || pipe(from) != 0) return 2;
  pid_t child = fork();
  if (child == 0) {
    signal(SIGPIPE, SIG_DFL);
    dup2(to[0], 0);
    dup2(from[1], 1);
    for (int i = 0; i < 2; i++) {
      close(to[i]);
      close(from[i]);
    }
    execvp(argv[1], argv + 1);
    _exit(127);
  }
  close(to[0]);
  close(from[1]);
  FILE *server = fdopen(to[1], "w"), *answers = fdopen(from[0], "r");
  char *message;
  while ((message = readMessage(stdin)) != NULL) {
    fprintf(server, "Content-Length: %zu\r\n\r\n%s", strlen(message), message);
    fflush(server);
    long number = strstr(message, "\"method\":") != NULL ? messageNumber(message) : -1;
    while (number >= 0) {
      char *answer = readMessage(answers);
      if (answer == NULL) {
        printf("no answer to %ld\n", number);
        break;
      }
      // A request or notification of the server's own has a method, an answer has none.
      if (strstr(answer, "\"method\":") == NULL && messageNumber(answer) == number) {
        printf("answer to %ld: %s\n", number, strstr(answer, "\"error\":") == NULL ? "a result" : "an error");
        number = -1;
      }
      free(answer);
    }
    free(message);
  }
  fclose(server);
  char *rest;
  while ((rest = readMessage(answers)) != NULL) free(rest);
  int status = 0;
  waitpid(child, &status, 0);
  printf("ended with status %x\n", (unsigned)status);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
