// Finds out whether a file grants capabilities to the processes that run it.

import Glibc

/// Returns whether the file at `path` has the extended attribute that holds file capabilities. False if the attribute
/// cannot be read.
func hasFileCapabilities(path: String) -> Bool {
  // Swift's module for the C library does not include <sys/xattr.h>, so look up the function by name.
  typealias GetAttribute =
    @convention(c) (UnsafePointer<CChar>, UnsafePointer<CChar>, UnsafeMutableRawPointer?, Int) -> Int
  guard let symbol = dlsym(nil, "getxattr") else { return false }
  return unsafeBitCast(symbol, to: GetAttribute.self)(path, "security.capability", nil, 0) > 0
}
