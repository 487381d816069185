import Foundation

final class Visit {
    let day: Int
    let doctor: String
    let minutes: Int
    let code: Int
    init(day: Int, doctor: String, minutes: Int, code: Int) {
        self.day = day
        self.doctor = doctor
        self.minutes = minutes
        self.code = code
    }
}

final class Patient {
    let id: Int
    let born: Int
    private(set) var chart: [Visit] = []
    var upcoming: Appointment?

    init(id: Int, born: Int) {
        self.id = id
        self.born = born
    }

    func record(_ visit: Visit) { chart.append(visit) }
    func lastVisit() -> Visit? { chart.last }
    func visits(code: Int) -> Int { chart.filter { $0.code == code }.count }
}

final class Appointment {
    unowned let patient: Patient
    let day: Int
    let urgency: Int
    var cancelled = false
    init(patient: Patient, day: Int, urgency: Int) {
        self.patient = patient
        self.day = day
        self.urgency = urgency
    }
}

struct AppointmentHeap {
    private var items: [Appointment] = []

    private func before(_ a: Appointment, _ b: Appointment) -> Bool {
        a.day != b.day ? a.day < b.day : a.urgency > b.urgency
    }

    mutating func push(_ appointment: Appointment) {
        items.append(appointment)
        var i = items.count - 1
        while i > 0, before(items[i], items[(i - 1) / 2]) {
            items.swapAt(i, (i - 1) / 2)
            i = (i - 1) / 2
        }
    }

    var first: Appointment? { items.first }
    var count: Int { items.count }

    mutating func pop() -> Appointment? {
        guard !items.isEmpty else { return nil }
        items.swapAt(0, items.count - 1)
        let result = items.removeLast()
        var i = 0
        while true {
            var best = i
            for child in [2 * i + 1, 2 * i + 2] where child < items.count && before(items[child], items[best]) {
                best = child
            }
            if best == i { return result }
            items.swapAt(i, best)
            i = best
        }
    }
}

final class Doctor {
    let name: String
    let capacity: Int
    private(set) var minutesWorked = 0
    init(name: String, capacity: Int) {
        self.name = name
        self.capacity = capacity
    }

    func see(_ patient: Patient, day: Int, code: Int) -> Int {
        let known = patient.lastVisit().map { day - $0.day < 60 } ?? false
        let minutes = known ? 12 : 20
        minutesWorked += minutes
        patient.record(Visit(day: day, doctor: name, minutes: minutes, code: code))
        return minutes
    }
}

final class Clinic {
    private var patients: [Int: Patient] = [:]
    private var heap = AppointmentHeap()
    private let doctors: [Doctor]
    private var nextId = 1
    private(set) var overdue = 0
    private(set) var cancellations = 0
    private(set) var longestQueue = 0

    init() {
        doctors = [Doctor(name: "Adler", capacity: 150), Doctor(name: "Brandt", capacity: 130),
                   Doctor(name: "Costa", capacity: 90)]
    }

    func register(born: Int) -> Int {
        let patient = Patient(id: nextId, born: born)
        patients[nextId] = patient
        nextId += 1
        return patient.id
    }

    func book(_ id: Int, day: Int, urgency: Int) {
        guard let patient = patients[id], patient.upcoming == nil else { return }
        let appointment = Appointment(patient: patient, day: day, urgency: urgency)
        patient.upcoming = appointment
        heap.push(appointment)
        longestQueue = max(longestQueue, heap.count)
    }

    func cancel(_ id: Int) {
        guard let patient = patients[id], let appointment = patient.upcoming else { return }
        appointment.cancelled = true
        patient.upcoming = nil
        cancellations += 1
    }

    func work(day: Int) {
        for doctor in doctors {
            var left = doctor.capacity
            while left > 0, let next = heap.first, next.day <= day {
                _ = heap.pop()
                if next.cancelled { continue }
                next.patient.upcoming = nil
                if next.day < day - 2 { overdue += 1 }
                left -= doctor.see(next.patient, day: day, code: (next.patient.id * 7 + day) % 6)
            }
        }
    }

    func ageOf(_ id: Int, in year: Int) -> Int { year - (patients[id]?.born ?? year) }

    func recall(day: Int) -> [Int] {
        patients.values.filter { p in
            guard let last = p.lastVisit() else { return false }
            return day - last.day > 120 && p.upcoming == nil
        }.map { $0.id }.sorted()
    }

    func yearEnd() {
        for doctor in doctors { print("\(doctor.name): \(doctor.minutesWorked) minutes") }
        for code in 0..<6 {
            print("code \(code): \(patients.values.reduce(0) { $0 + $1.visits(code: code) }) visits")
        }
        print("overdue \(overdue), cancelled \(cancellations), longest queue \(longestQueue), waiting \(heap.count)")
    }
}

let clinic = Clinic()
var seed: UInt64 = 909

func draw(_ n: Int) -> Int {
    seed = seed &* 6364136223846793005 &+ 1442695040888963407
    return Int((seed >> 33) % UInt64(n))
}

func oneYear() {
    var count = 0
    for day in 1...330 {
        let newcomers = day < 300 ? draw(7) : 0
        for _ in 0..<newcomers {
            count = clinic.register(born: 1940 + draw(80))
            clinic.book(count, day: day + 1 + draw(9), urgency: draw(4))
        }
        if count > 0 {
            for _ in 0..<(day % 80 < 15 ? 30 : 9) where day < 318 {
                clinic.book(1 + draw(count), day: day + draw(12), urgency: clinic.ageOf(1 + draw(count), in: 2020) > 60 ? 3 : 1)
            }
            for _ in 0..<draw(4) { clinic.cancel(1 + draw(count)) }
        }
        if day % 30 == 0 {
            for id in clinic.recall(day: day).prefix(20) { clinic.book(id, day: day + 5, urgency: 0) }
        }
        if day % 7 < 5 { clinic.work(day: day) }
        usleep(5_500)
    }
}

oneYear()
clinic.yearEnd()
