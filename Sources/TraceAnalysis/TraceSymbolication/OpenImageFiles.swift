// Opened symbol files and demanglers that several symbolicators share.

/// Opened symbol files, and demanglers. The key of a file is its canonical path, together with the build ID in the
/// trace.
///
/// An analysis has several symbolicators, and a command may read many traces of one program. All symbolicators share
/// one object of this class, so that no file is read twice and no name is demangled twice. They must all have the same
/// `DebugFileSearch`. A file with several paths is read once. The files stay open and in memory as long as the object
/// exists. For one thread at a time.
package final class OpenImageFiles {
  private struct Place: Hashable {
    var path: String
    var buildID: [UInt8]
  }

  private var files: [Place: ImageFiles] = [:]
  private var demanglers: [Set<String>: Demangler] = [:]
  private var process = DemanglerProcess()

  package init() {}

  /// Returns the files of the loaded image at `path`. `open` opens them on the first call.
  func files(at path: String, buildID: [UInt8], open: () -> ImageFiles) -> ImageFiles {
    let place = Place(path: path, buildID: buildID)
    if let known = files[place] { return known }
    let opened = open()
    files[place] = opened
    return opened
  }

  /// Reads all parts of the opened files that a report may need. Other parts are read when they are first needed.
  package func readAll() { for files in files.values { _ = files.problems } }

  /// Replaces the demangler process if a name has crashed it. Without this, a damaged file could use up the allowed
  /// crashes, and the next symbolicator would get no names.
  func renewDemanglers() {
    if process.hasDied { (process, demanglers) = (DemanglerProcess(), [:]) }
  }

  /// Returns the demangler for a program, with its cached names.
  func demangler(programModules: Set<String>) -> Demangler {
    if let known = demanglers[programModules] { return known }
    let demangler = Demangler(programModules: programModules, process: process)
    demanglers[programModules] = demangler
    return demangler
  }
}
