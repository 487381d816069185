// The version of this release. Scripts read it from this line.

/// As `leaktrace --version` prints it and as reports name it: MAJOR.MINOR.PATCH.
let leaktraceVersion = "0.1.0"
