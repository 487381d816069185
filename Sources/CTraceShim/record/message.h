// Tells the user why something is not traced.

#ifndef LEAKTRACE_MESSAGE_H
#define LEAKTRACE_MESSAGE_H

#include <stdbool.h>

/// Tells the user something, once a reason: a line for `record`, or on standard error when preloaded by hand.
void lt_message(const char *text, const char *detail, int error);
/// The same, called apart.
void lt_message_apart(const char *text, const char *detail, int error);
void lt_message_init(const char *messagesPath, bool quiet);

#endif
