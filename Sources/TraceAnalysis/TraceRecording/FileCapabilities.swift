// Finds out whether a file grants capabilities to the processes that run it.

import Glibc

/// Tells whether the file at `path` has the extended attribute that holds file capabilities. False if that cannot be
/// told.
func hasFileCapabilities(path: String) -> Bool {
  // Swift's module of the C library leaves <sys/xattr.h> out, so the function is looked up.
  typealias GetAttribute =
    @convention(c) (UnsafePointer<CChar>, UnsafePointer<CChar>, UnsafeMutableRawPointer?, Int) -> Int
  guard let symbol = dlsym(nil, "getxattr") else { return false }
  return unsafeBitCast(symbol, to: GetAttribute.self)(path, "security.capability", nil, 0) > 0
}
