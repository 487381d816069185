// `leaktrace watch`: takes heap images of a running process at intervals, and shows what grows from one to the next.

import ArgumentParser
import Glibc
import TraceAnalysis

struct WatchCommand: LeakSearchingCommand {
  static let configuration = CommandConfiguration(
    commandName: "watch",
    abstract: "Inspect a running process again and again, and report what grows.",
    usage: """
      leaktrace watch [options] PID|CONTAINER
      leaktrace watch [options] --from DIRECTORY
      """,
    discussion: """
      Takes an image as 'leaktrace inspect' does, at once, then at each interval, and when the process reaches a size (--above). Ends with the \
      process, at --until, after --count images, or on Ctrl-C; then reports what grew from image to image, by type and holder, and the \
      findings of the newest image. What grows throughout and does not level off is a suspect, from \(GrowthRules.standard.minImages) images on.

      CONTAINER is the ID of a container, at least 12 digits of it, or the path of a control group: its main process is watched.

      --from evaluates the traces that an earlier watch has kept (-o), or inspections of one process.

      Exit status: 0 no gate failed, 1 a gate failed (--fail-on, default: new-leaks,new-suspects), 3 there is no image, or the process cannot be \
      inspected, 4 a trace is damaged, 5 a report or trace could not be written, 6 some of an --untrusted trace was refused, 64 wrong usage.
      """)

  @Argument(
    help: ArgumentHelp("Process ID, container ID, or path of a control group.", valueName: "pid|container"),
    completion: .processOrFile)
  var target: String?

  @Option(
    help: ArgumentHelp("Evaluate the traces in this directory, and watch nothing.", valueName: "directory"),
    completion: .directory)
  var from: String?

  @Option(help: ArgumentHelp("Time from one image to the next: 30s, 10m, 2h.", valueName: "duration"))
  var every: TimeSpan = TimeSpan(seconds: 600)

  @Option(
    help: ArgumentHelp(
      "End after this time (2h, 7d), or at a time of day (18:30).", valueName: "duration|time"))
  var until: WatchEnd?

  @Option(help: ArgumentHelp("End after this number of images.", valueName: "number"))
  var count: Int?

  @Option(
    help: ArgumentHelp(
      "Also take an image when the process reaches this resident size (2GiB), or its control group this part of its limit (80%).",
      valueName: "size|percent"))
  var above: WatchedSize?

  @Option(
    name: [.short, .long],
    help: ArgumentHelp("Keep traces of images in this directory.", valueName: "directory"), completion: .directory)
  var output: String?

  @Option(
    help: ArgumentHelp(
      "Traces to keep at most, spread evenly over the time; the first and the newest are always kept.",
      valueName: "number"))
  var keep: Int = 12

  @OptionGroup var holdOption: HoldOption

  @Option(help: "Number of rows to show of what grew and is not suspected; 0 shows all.")
  var limit: Int = 10

  @OptionGroup(title: "Gates") var gateOptions: GateOptions

  @OptionGroup var outputs: ReportOutputs

  @Flag(help: "Also list weak suspicions among the findings.")
  var weak = false

  @OptionGroup var pathOptions: PathOptions

  @OptionGroup var suppressions: SuppressionsOption

  @OptionGroup var debugFiles: DebugFileOptions

  @OptionGroup var ownModules: OwnModulesOption

  @OptionGroup var reading: ReadingOptions

  @OptionGroup var layout: LayoutOptions

  func validate() throws {
    if (target == nil) == (from == nil) {
      throw ValidationError("Name the process to watch, or the directory of an earlier watch with --from.")
    }
    if from != nil, output != nil || until != nil || count != nil || above != nil || holdOption.hold {
      throw ValidationError("--from watches nothing: --until, --count, --above, --hold and -o do not go with it.")
    }
    if let count, count < 1 { throw ValidationError("--count must be 1 or more.") }
    if keep < 2 { throw ValidationError("--keep must be 2 or more: the first trace and the newest.") }
    if limit < 0 { throw ValidationError("--limit must be 0 (all) or more.") }
    try outputs.validate(besides: [gateOptions.baseline])
  }

  func run() throws {
    let search = try LeakSearch(self)
    let gatekeeper = try Gatekeeper(gateOptions, subject: .analysis, standard: ["new-leaks", "new-suspects"])
    var report = WatchReport(self, search, gatekeeper)
    var watch: ProcessWatch?
    // Remove traces at the end, because the report may read the newest trace again.
    defer { watch?.end() }
    if let from {
      try report.readTraces(in: from)
    } else if let target {
      watch = try ProcessWatch(self, target)
      try watch?.run(&report)
    }
    let status = try report.finish()
    if status != .success { throw status.code }
  }

  var style: TextStyle { layout.style(paths: pathOptions.style) }
}
