// Changes that enable a feature, in words: a command if there is one.

import TextWriting
import TraceReading

/// The words for remedies.
struct RemedyWords {
  private let facts: CheckedFacts
  private var machine: MachineFacts { facts.machine }
  private var processID: String { facts.target.map { String($0.processID) } ?? "PID" }

  init(_ facts: CheckedFacts) { self.facts = facts }

  /// Returns a command to run, or a sentence without a full stop.
  func text(_ remedy: Remedy, _ feature: Feature) -> String {
    switch remedy {
    case .setLibraryPath: "export LEAKTRACE_LIBRARY=/path/to/libleaktrace.so"
    case .chooseDirectory: chosenDirectory(feature)
    case .runAsRoot: feature == .coreFiles ? "sudo gcore \(processID)" : "sudo leaktrace \(command(feature))"
    case .runAsUser(let user): "docker exec --user \(user) CONTAINER leaktrace \(command(feature))"
    case .addTracing: tracing(feature)
    case .addAdministration: administration(feature)
    case .allowCalls: calls
    case .liftSecurityModule: securityModule
    case .hold: "leaktrace inspect --hold \(processID), which stops the process for about a second for each GiB"
    case .restartSystem, .recordInstead: "record the program from its start: leaktrace record -- PROGRAM"
    case .otherMachine: "run the program on x86-64 or arm64 with glibc 2.31 or later, and analyze its trace anywhere"
    case .installSwift: "export PATH=/path/to/swift/usr/bin:$PATH, with a toolchain that has libswiftRemoteMirror.so"
    case .attach: "record its calls of malloc instead: leaktrace attach \(processID)"
    case .snapshot: "use the recording that it has: leaktrace snapshot \(processID)"
    case .resume: "kill -CONT \(processID)"
    case .linkDynamically: "link it dynamically; -static-stdlib is fine, -static-executable is not"
    case .linkSharedAllocator:
      "link the allocator as a shared library, or join the process later: leaktrace attach \(processID)"
    case .copyWithoutBit:
      "record a copy of the program without that bit (chmod ug-s), as the user whose rights it needs"
    case .copyWithoutCapabilities: "record a copy of the program without them (setcap -r), as root"
    case .buildWithoutSanitizer: "build it without the sanitizer"
    case .allowCores: "\(elevation)prlimit --pid \(processID) --core=unlimited"
    case .setCoreFilter: "echo 0x33 > /proc/\(processID)/coredump_filter"
    case .useGcore: "gcore \(processID)"
    case .giveDebugFiles: "give the program's own files: --debug-path DIRECTORY, by build ID or name; build with -g"
    case .allowCode: temporaryDirectory("nsenter -t \(processID) -m mount -o remount,exec /tmp")
    case .makeWritable: temporaryDirectory("give the process a /tmp that its user may write to")
    case .inspectOutside:
      "run leaktrace as root outside of \(machine.container == .none ? "this sandbox" : "the container")"
    case .endTracer(let tracer): "end process \(tracer), or have it let go"
    }
  }

  /// The prefix of a command that affects a process of another user.
  private var elevation: String {
    guard !machine.isRoot, let user = facts.target?.userIDs.dropFirst().first, user != machine.userID else { return "" }
    return "sudo "
  }

  /// Returns the command for the feature.
  private func command(_ feature: Feature) -> String {
    switch feature {
    case .attach, .watch: "\(feature.rawValue) \(processID)"
    case .record, .light: "record\(feature == .light ? " --light" : "") -- PROGRAM"
    case .snapshot: "\(facts.target?.recording == TargetFacts.Recording.none ? "attach" : "snapshot") \(processID)"
    default: "inspect \(processID)"
    }
  }

  private func chosenDirectory(_ feature: Feature) -> String {
    let start = feature == .attach ? "leaktrace attach \(processID) -o" : "leaktrace record -o"
    let end = feature == .attach ? "" : " -- PROGRAM"
    return switch machine.container {
    case .none: "\(start) /path/of/a/writable/directory/\(end)"
    case .kubernetes: "mount an emptyDir volume, and name it: \(start) /traces/\(end)"
    default: "mount a volume (-v traces:/traces), and name it: \(start) /traces/\(end)"
    }
  }

  private func tracing(_ feature: Feature) -> String {
    switch machine.container {
    case .docker, .podman:
      "\(tool) run --pid container:NAME --cap-add SYS_PTRACE --user 0 IMAGE leaktrace \(command(feature))"
    case .kubernetes: "kubectl debug -it POD --image=IMAGE --target=CONTAINER --profile=general"
    case .none, .other: "run leaktrace as root with the capability CAP_SYS_PTRACE"
    }
  }

  private func administration(_ feature: Feature) -> String {
    switch machine.container {
    case .docker, .podman: "\(tool) run --pid container:NAME --privileged --user 0 IMAGE leaktrace \(command(feature))"
    case .kubernetes: "kubectl debug -it POD --image=IMAGE --target=CONTAINER --profile=sysadmin"
    case .none, .other: "run leaktrace as root outside of the container, with CAP_SYS_ADMIN and without a filter"
    }
  }

  private var calls: String {
    switch machine.container {
    case .docker, .podman: "\(tool) run --security-opt seccomp=unconfined …"
    case .kubernetes: "securityContext: {seccompProfile: {type: Unconfined}} in the container's specification"
    case .none, .other: "run leaktrace without the filter of system calls (seccomp)"
    }
  }

  private var securityModule: String {
    switch machine.container {
    case .docker, .podman: "\(tool) run --security-opt apparmor=unconfined …"
    case .kubernetes: "securityContext: {appArmorProfile: {type: Unconfined}} in the container's specification"
    case .none, .other: "run leaktrace outside of the profile \(PlainText.escaped(machine.securityLabel ?? ""))"
    }
  }

  private func temporaryDirectory(_ command: String) -> String {
    switch machine.container {
    case .docker, .podman: "\(tool) run --tmpfs /tmp:exec …"
    case .kubernetes: "mount an emptyDir volume at /tmp of the container"
    case .none, .other: command
    }
  }

  private var tool: String { machine.container == .podman ? "podman" : "docker" }
}
