// Objects that are lost together with what refers back to them without owning them, in the payload of an enumeration another case of which may hold
// anything: there is no cycle.

protocol PanelProxy { var depth: Int { get } }

struct BackLink { unowned let panel: Panel }

enum PanelLink {
  case root
  case proxy(any PanelProxy)
  case back(BackLink)
}

final class PanelRow {
  var link = PanelLink.root
}

final class Panel {
  let row = PanelRow()
  init() { row.link = .back(BackLink(panel: self)) }
  var depth: Int { if case .back(let link) = row.link, link.panel === self { 1 } else { 0 } }
}

enum PanelLinks: FaultyProgram {
  static func faulty() { for _ in 0..<4 { show(releases: false) } }
  static func correct() { for _ in 0..<4 { show(releases: true) } }

  @inline(never) private static func show(releases: Bool) {
    let panel = Unmanaged.passRetained(Panel())
    note(panel.takeUnretainedValue().depth)
    use(panel.takeUnretainedValue())
    if releases { panel.release() }
  }
}
