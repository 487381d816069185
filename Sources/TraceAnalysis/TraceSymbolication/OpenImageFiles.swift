// The symbol files of images and the demanglers, for more than one symbolicator.

/// Symbol files that were opened, by the file's one path and the build ID that the trace has, and demanglers.
///
/// A file that goes by many names is read once. An analysis has several symbolicators, and a command may read many
/// traces of one program. They share a value of this class, so that nothing is read or demangled twice. All of them
/// must have the same search. The files stay open, and their parts in memory, for as long as the value lives. Not to be
/// shared between threads.
package final class OpenImageFiles {
  private struct Place: Hashable {
    var path: String
    var buildID: [UInt8]
  }

  private var files: [Place: ImageFiles] = [:]
  private var demanglers: [Set<String>: Demangler] = [:]
  private var process = DemanglerProcess()

  package init() {}

  /// Returns the files of the image at `path`, opened by `open` if this is the first time.
  func files(at path: String, buildID: [UInt8], open: () -> ImageFiles) -> ImageFiles {
    let place = Place(path: path, buildID: buildID)
    if let known = files[place] { return known }
    let opened = open()
    files[place] = opened
    return opened
  }

  /// Gives up a demangler that some name has ended: a damaged file must not cost the next symbolicator its names.
  func renewDemanglers() {
    if process.hasDied { (process, demanglers) = (DemanglerProcess(), [:]) }
  }

  /// Returns the demangler of a program, with the names that it knows.
  func demangler(programModules: Set<String>) -> Demangler {
    if let known = demanglers[programModules] { return known }
    let demangler = Demangler(programModules: programModules, process: process)
    demanglers[programModules] = demangler
    return demangler
  }
}
