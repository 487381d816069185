// The version of this release. Scripts read it from this line.

/// The version that `leaktrace --version` prints and that reports name: MAJOR.MINOR.PATCH.
let leaktraceVersion = "0.1.0"
