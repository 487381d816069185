import Foundation

class Event {
    let caseId: Int
    let at: Int
    init(caseId: Int, at: Int) {
        self.caseId = caseId
        self.at = at
    }
    func apply(to state: CaseState) {}
}

final class Opened: Event {
    let applicant: String
    init(caseId: Int, at: Int, applicant: String) {
        self.applicant = applicant
        super.init(caseId: caseId, at: at)
    }
    override func apply(to state: CaseState) {
        state.applicant = applicant
        state.stage = "review"
        state.openedAt = at
    }
}

final class Commented: Event {
    let words: Int
    init(caseId: Int, at: Int, words: Int) {
        self.words = words
        super.init(caseId: caseId, at: at)
    }
    override func apply(to state: CaseState) { state.words += words }
}

final class Moved: Event {
    let stage: String
    init(caseId: Int, at: Int, stage: String) {
        self.stage = stage
        super.init(caseId: caseId, at: at)
    }
    override func apply(to state: CaseState) {
        state.stage = stage
        state.moves += 1
        if stage == "closed" { state.closedAt = at }
    }
}

final class CaseState {
    var applicant = ""
    var stage = "none"
    var words = 0
    var moves = 0
    var openedAt = 0
    var closedAt: Int?
}

final class Journal {
    private var events: [Event] = []
    private var byCase: [Int: [Int]] = [:]

    func append(_ event: Event) {
        byCase[event.caseId, default: []].append(events.count)
        events.append(event)
    }

    func rebuild(_ caseId: Int) -> CaseState {
        let state = CaseState()
        for index in byCase[caseId] ?? [] { events[index].apply(to: state) }
        return state
    }

    func replay(until moment: Int) -> [Int: CaseState] {
        var states: [Int: CaseState] = [:]
        for event in events where event.at <= moment {
            let state = states[event.caseId] ?? CaseState()
            event.apply(to: state)
            states[event.caseId] = state
        }
        return states
    }

    var length: Int { events.count }
}

final class WorkflowEngine {
    private let journal: Journal
    private var open: [Int] = []
    private var nextCase = 1
    private let stages = ["review", "interview", "decision", "closed"]

    init(journal: Journal) { self.journal = journal }

    func openCase(_ applicant: String, at now: Int) {
        journal.append(Opened(caseId: nextCase, at: now, applicant: applicant))
        open.append(nextCase)
        nextCase += 1
    }

    func comment(slot: Int, words: Int, at now: Int) {
        guard !open.isEmpty else { return }
        let id = open[slot % open.count]
        journal.append(Commented(caseId: id, at: now, words: words))
    }

    func advance(slot: Int, at now: Int) {
        guard !open.isEmpty else { return }
        let position = slot % open.count
        let id = open[position]
        let state = journal.rebuild(id)
        guard let i = stages.firstIndex(of: state.stage), i + 1 < stages.count else { return }
        if stages[i + 1] == "closed" && state.words < 20 { return }
        journal.append(Moved(caseId: id, at: now, stage: stages[i + 1]))
        if stages[i + 1] == "closed" { open.remove(at: position) }
    }
}

struct Audit {
    let journal: Journal

    func backlog(on day: Int) -> Int {
        journal.replay(until: day).values.filter { $0.closedAt == nil }.count
    }

    func meanDuration(until day: Int) -> Int {
        let closed = journal.replay(until: day).values.compactMap { state in
            state.closedAt.map { $0 - state.openedAt }
        }
        return closed.isEmpty ? 0 : closed.reduce(0, +) / closed.count
    }
}

func office(days: Int) {
    let journal = Journal()
    let engine = WorkflowEngine(journal: journal)
    var lcg: UInt32 = 31
    func draw(_ n: Int) -> Int {
        lcg = lcg &* 22695477 &+ 1
        return Int(lcg >> 16) % n
    }
    for day in 0..<days {
        if draw(3) > 0 { engine.openCase("applicant \(day)", at: day) }
        for _ in 0..<(3 + draw(4)) { engine.comment(slot: draw(500), words: 3 + draw(30), at: day) }
        for _ in 0..<3 { engine.advance(slot: draw(500), at: day) }
        usleep(4_500)
    }
    let audit = Audit(journal: journal)
    for day in stride(from: 50, through: days, by: 50) {
        print("day \(day): backlog \(audit.backlog(on: day)), mean \(audit.meanDuration(until: day))")
    }
    print("journal of \(journal.length) events")
}

office(days: 400)
