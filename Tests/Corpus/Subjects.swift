// Subjects, subscriptions and cancellables in the manner of reactive frameworks.

protocol Subscription: AnyObject {
  func cancel()
}

final class Cancellable: Hashable {
  private var subscription: (any Subscription)?
  init(_ subscription: any Subscription) { self.subscription = subscription }
  deinit { subscription?.cancel() }

  static func == (left: Cancellable, right: Cancellable) -> Bool { left === right }
  func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
  func store(in set: inout Set<Cancellable>) { set.insert(self) }
}

class Subscriber<Value>: Subscription {
  private weak var subject: Subject<Value>?
  init(subject: Subject<Value>) { self.subject = subject }
  func receive(_ value: Value) {}
  func cancel() { subject?.remove(self) }
}

final class SinkSubscriber<Value>: Subscriber<Value> {
  private let receiveValue: (Value) -> Void

  init(subject: Subject<Value>, receiveValue: @escaping (Value) -> Void) {
    self.receiveValue = receiveValue
    super.init(subject: subject)
  }

  override func receive(_ value: Value) { receiveValue(value) }
}

final class AssignSubscriber<Root: AnyObject, Value>: Subscriber<Value> {
  private let object: Root
  private let keyPath: ReferenceWritableKeyPath<Root, Value>

  init(subject: Subject<Value>, keyPath: ReferenceWritableKeyPath<Root, Value>, object: Root) {
    self.keyPath = keyPath
    self.object = object
    super.init(subject: subject)
  }

  override func receive(_ value: Value) { object[keyPath: keyPath] = value }
}

final class Subject<Value> {
  private var subscribers: [ObjectIdentifier: Subscriber<Value>] = [:]

  func send(_ value: Value) {
    for subscriber in subscribers.values { subscriber.receive(value) }
  }

  func remove(_ subscriber: Subscriber<Value>) { subscribers[ObjectIdentifier(subscriber)] = nil }

  func sink(_ receiveValue: @escaping (Value) -> Void) -> Cancellable {
    add(SinkSubscriber(subject: self, receiveValue: receiveValue))
  }

  func assign<Root: AnyObject>(to keyPath: ReferenceWritableKeyPath<Root, Value>, on object: Root) -> Cancellable {
    add(AssignSubscriber(subject: self, keyPath: keyPath, object: object))
  }

  private func add(_ subscriber: Subscriber<Value>) -> Cancellable {
    subscribers[ObjectIdentifier(subscriber)] = subscriber
    return Cancellable(subscriber)
  }
}
