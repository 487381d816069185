import Foundation

final class Target {
    let label: String
    let sources: [String]
    var dependencies: [Target] = []
    var dependents: [ObjectIdentifier: Target] = [:]
    var stamp = 0

    init(label: String, sources: [String]) {
        self.label = label
        self.sources = sources
    }

    func depend(on other: Target) {
        dependencies.append(other)
        other.dependents[ObjectIdentifier(self)] = self
    }
}

final class Package {
    let name: String
    var targets: [String: Target] = [:]
    init(name: String) { self.name = name }
}

final class ChangeSet {
    let changed: [Target]
    init(changed: [Target]) { self.changed = changed }
}

final class Workspace {
    private var packages: [String: Package] = [:]
    let runtime = Target(label: "//core:runtime", sources: ["runtime.c"])
    let logging = Target(label: "//core:logging", sources: ["log.c"])
    private(set) var rebuilds = 0
    private var clock = 0

    init() { logging.depend(on: runtime) }

    func load(_ name: String, modules: Int, usesTests: Bool) {
        let package = Package(name: name)
        let library = Target(label: "//\(name):lib", sources: (0..<modules).map { "m\($0).c" })
        library.depend(on: logging)
        package.targets["lib"] = library
        let tool = Target(label: "//\(name):tool", sources: ["main.c"])
        tool.depend(on: library)
        package.targets["tool"] = tool
        if usesTests {
            let tests = Target(label: "//\(name):tests", sources: ["tests.c"])
            tests.depend(on: library)
            tests.depend(on: runtime)
            package.targets["tests"] = tests
        }
        packages[name] = package
    }

    func unload(_ name: String) {
        guard let package = packages.removeValue(forKey: name) else { return }
        for target in package.targets.values {
            if let dependency = target.dependencies.first {
                dependency.dependents[ObjectIdentifier(target)] = nil
            }
            target.dependencies.removeAll()
        }
    }

    func touch(_ name: String) -> ChangeSet {
        ChangeSet(changed: packages[name].map { Array($0.targets.values) } ?? [])
    }

    func build(_ changes: ChangeSet) {
        clock += 1
        var pending = changes.changed
        while let target = pending.popLast() {
            if target.stamp == clock { continue }
            target.stamp = clock
            rebuilds += 1
            pending.append(contentsOf: target.dependents.values)
        }
    }

    var loaded: Int { packages.count }
}

let workspace = Workspace()
var open: [String] = []
for index in 0..<320 {
    let name = "pkg\(index)"
    workspace.load(name, modules: 3 + index % 5, usesTests: index % 8 == 3)
    open.append(name)
    workspace.build(workspace.touch(name))
    if open.count > 12 { workspace.unload(open.removeFirst()) }
    usleep(2500)
}
for name in open { workspace.unload(name) }
print("packages loaded: \(workspace.loaded)")
print("targets rebuilt: \(workspace.rebuilds)")
