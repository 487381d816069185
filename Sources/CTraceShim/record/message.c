// Tells the user why something is not traced: to `record`, or on standard error when preloaded by hand.

#include "record/message.h"

#include "CTraceFormat.h"
#include "check.h"
#include "os/apart_task.h"
#include "os/os.h"
#include "thread/own_stack.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>

static char messagesPath[PATH_MAX];
static bool isQuiet;
static dev_t errorDevice; ///< of the standard error at the beginning
static ino_t errorInode;

void lt_message_init(const char *path, bool quiet) {
  messagesPath[0] = 0;
  if (path && strlen(path) < sizeof messagesPath) strcpy(messagesPath, path);
  isQuiet = quiet;
  struct stat info;
  if (lt_fstat(2, &info) != 0) return;
  errorDevice = info.st_dev;
  errorInode = info.st_ino;
}

struct line {
  const char *text;
  size_t size;
};

/// To be called apart: a limit on file sizes, or a reader that has gone, is a signal to the writer.
static void write_apart(void *argument) {
  const struct line *line = argument;
  if (messagesPath[0]) {
    int descriptor = lt_open(messagesPath, O_WRONLY | O_APPEND | O_NOFOLLOW, 0);
    if (descriptor < 0) return;
    lt_write_all(descriptor, line->text, line->size);
    lt_close(descriptor);
    return;
  }
  // The host may have closed its standard error, and have a file of its own there.
  struct stat info;
  if (lt_fstat(2, &info) == 0 && info.st_dev == errorDevice && info.st_ino == errorInode)
    lt_write_all(2, line->text, line->size);
}

struct message {
  const char *text, *detail;
  int error;
};

static void say(void *message) {
  const char *text = ((struct message *)message)->text, *detail = ((struct message *)message)->detail;
  int error = ((struct message *)message)->error;
  char line[PATH_MAX + 512];
  size_t n = 0;
  const char *parts[] = {"leaktrace: ", text, detail ? " " : "", detail ? detail : "", error ? ": " : "", NULL, NULL};
  const char *reason = "";
  switch (error) {
    case 0: break;
    case EACCES: reason = "Permission denied"; break;
    case EROFS: reason = "Read-only file system"; break;
    case ENOSPC: reason = "No space left on device"; break;
    case EDQUOT: reason = "Disk quota exceeded"; break;
    case EFBIG: reason = "File too large (the limit on file sizes was reached)"; break;
    case ENOENT: reason = "No such file or directory"; break;
    case ENOTDIR: reason = "Not a directory"; break;
    case ELOOP: reason = "It is a symbolic link"; break;
    case EEXIST: reason = "It exists and is not a trace"; break;
    case ENOMEM: reason = "Cannot allocate memory"; break;
    case EMFILE:
    case ENFILE: reason = "Too many open files"; break;
    case ESTALE: reason = "The file was removed or replaced"; break;
    case ENAMETOOLONG: reason = "File name too long"; break;
    default: reason = lt_metadata_failure_text(error); break;
  }
  parts[5] = reason ? reason : "Input/output error";
  parts[6] = error && lt_metadata_failure_text(error) ? ". A recording without --light needs no metadata" : "";
  for (int i = 0; i < 7; i++) {
    size_t length = strlen(parts[i]);
    if (n + length >= sizeof line - 1) length = sizeof line - 1 - n;
    memcpy(line + n, parts[i], length);
    n += length;
  }
  LT_CHECK(n < sizeof line);
  line[n++] = '\n';
  if (messagesPath[0] || !isQuiet) lt_call_apart_or_here(write_apart, &(struct line){line, n});
}

void lt_message(const char *text, const char *detail, int error) {
  LT_CHECK(text && error >= 0);
  struct message message = {text, detail, error};
  lt_on_own_stack(say, &message);
}

void lt_message_apart(const char *text, const char *detail, int error) {
  LT_CHECK(text && error >= 0);
  struct message message = {text, detail, error};
  say(&message);
}
