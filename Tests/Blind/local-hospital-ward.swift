import Foundation

enum Urgency: Int { case low = 1, medium, high, critical }

final class Diagnosis {
    let code: String
    let day: Int
    init(code: String, day: Int) {
        self.code = code
        self.day = day
    }
}

final class Patient {
    let number: Int
    private(set) var history: [Diagnosis] = []
    var visits = 0
    var urgency: Urgency = .low
    init(number: Int) { self.number = number }

    func note(_ d: Diagnosis) { history.append(d) }
    func hadBefore(_ code: String) -> Bool { history.contains { $0.code == code } }
}

final class Ticket {
    let patient: Patient
    let arrival: Int
    let urgency: Urgency
    var isValid = true
    init(_ p: Patient, arrival: Int) {
        patient = p
        self.arrival = arrival
        urgency = p.urgency
    }
    func precedes(_ o: Ticket) -> Bool {
        (urgency.rawValue, -arrival) > (o.urgency.rawValue, -o.arrival)
    }
}

final class TriageHeap {
    private var heap: [Ticket] = []
    private(set) var largest = 0

    func push(_ t: Ticket) {
        heap.append(t)
        var i = heap.count - 1
        while i > 0, heap[i].precedes(heap[(i - 1) / 2]) {
            heap.swapAt(i, (i - 1) / 2)
            i = (i - 1) / 2
        }
        largest = max(largest, heap.count)
    }

    func pop() -> Ticket? {
        while !heap.isEmpty {
            heap.swapAt(0, heap.count - 1)
            let t = heap.removeLast()
            sink()
            if t.isValid { return t }
        }
        return nil
    }

    private func sink() {
        var i = 0
        while true {
            var best = i
            for c in [2 * i + 1, 2 * i + 2] where c < heap.count && heap[c].precedes(heap[best]) { best = c }
            if best == i { return }
            heap.swapAt(i, best)
            i = best
        }
    }
}

final class Doctor {
    let name: String
    private(set) var treated = 0
    private var current: Ticket?
    private var until = 0
    init(name: String) { self.name = name }

    func isFree(_ now: Int) -> Bool { current == nil || until <= now }

    func finish(_ now: Int) -> Ticket? {
        guard let t = current, until <= now else { return nil }
        current = nil
        treated += 1
        return t
    }

    func take(_ t: Ticket, now: Int) {
        current = t
        until = now + 2 + t.urgency.rawValue * 2
    }
}

final class Archive {
    private var records: [Int: Patient] = [:]
    private(set) var lookups = 0
    func store(_ p: Patient) { records[p.number] = p }
    func lookup(_ n: Int) -> Patient? {
        lookups += 1
        return records[n]
    }
    var all: [Patient] { records.values.sorted { $0.number < $1.number } }
}

final class Ward {
    private let archive = Archive()
    private let triage = TriageHeap()
    private let doctors = ["Adams", "Brown", "Clark", "Davis"].map { Doctor(name: $0) }
    private var waiting: [Int: Ticket] = [:]
    private var newcomers = 0
    private var returning = 0
    private var upgrades = 0
    private var walkouts = 0
    private var relapses = 0

    func arrive(_ number: Int, _ u: Urgency, now: Int) {
        guard waiting[number] == nil else { return upgrade(number, now: now) }
        let p: Patient
        if let known = archive.lookup(number) {
            p = known
            returning += 1
        } else {
            p = Patient(number: number)
            newcomers += 1
        }
        p.visits += 1
        p.urgency = u
        enqueue(p, now: now)
    }

    private func enqueue(_ p: Patient, now: Int) {
        let t = Ticket(p, arrival: now)
        waiting[p.number] = t
        triage.push(t)
    }

    private func upgrade(_ number: Int, now: Int) {
        guard let old = waiting[number], old.urgency != .critical else { return }
        old.isValid = false
        old.patient.urgency = Urgency(rawValue: old.urgency.rawValue + 1) ?? .critical
        enqueue(old.patient, now: now)
        upgrades += 1
    }

    func impatience(now: Int) {
        for (n, t) in waiting where t.urgency == .low && now - t.arrival > 120 {
            t.isValid = false
            waiting[n] = nil
            archive.store(t.patient)
            walkouts += 1
        }
    }

    func treat(now: Int) {
        for d in doctors {
            if let t = d.finish(now) { discharge(t.patient, now: now) }
            if d.isFree(now), let next = triage.pop() {
                waiting[next.patient.number] = nil
                d.take(next, now: now)
            }
        }
    }

    private func discharge(_ p: Patient, now: Int) {
        let code = "D\((p.number * 7 + p.visits) % 9)"
        if p.hadBefore(code) { relapses += 1 }
        p.note(Diagnosis(code: code, day: now / 100))
        archive.store(p)
    }

    var isBusy: Bool { !waiting.isEmpty }

    func report() {
        let all = archive.all
        let frequent = all.sorted { ($0.visits, $1.number) > ($1.visits, $0.number) }.prefix(3)
        print("patients \(all.count) new \(newcomers) returning \(returning) lookups \(archive.lookups)")
        print("upgrades \(upgrades) walkouts \(walkouts) relapses \(relapses) largest queue \(triage.largest)")
        print("frequent", frequent.map { "#\($0.number):\($0.visits)/\($0.history.count)" }.joined(separator: " "))
    }
}

func runWard() {
    let ward = Ward()
    var now = 0
    while now < 1100 || ward.isBusy {
        if now < 1100 {
            let burst = now % 250 < 60 ? 3 : 1
            for k in 0..<burst where (now + k) % 2 == 0 {
                let n = (now * now + k * 77) % 600
                ward.arrive(n, Urgency(rawValue: 1 + (now / 3 + k) % 4)!, now: now)
            }
        }
        ward.treat(now: now)
        if now % 20 == 0 { ward.impatience(now: now) }
        now += 1
        usleep(1_700)
    }
    ward.report()
}

runWard()
