// Hooks of the functions that count inside a Swift runtime, interposed by name.

#ifndef LEAKTRACE_SWIFT_RELATIVES_H
#define LEAKTRACE_SWIFT_RELATIVES_H

/// Finds what the hooks are to call. To be called when the library is loaded, and whenever images that define such functions came or went. Calls
/// dl_iterate_phdr.
void lt_swift_relatives_settle(void);

#endif
