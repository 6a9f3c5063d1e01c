public import Foundation
public import SignetCore

/// The clock of a server.
///
/// It follows a base clock, and a tester can move or stop it.
///
/// Every timeout, code and signature uses it. Connection timeouts and latency faults use the machine's clock, because they would
/// never end while this clock is stopped.
///
/// A change takes effect at once. It is stored with the state, for all servers that share it. If it cannot be written, the clock
/// returns to its stored setting, and the server logs the failure.
public final class AdjustableClock: WallClock {
    /// The setting of the clock, as stored with the state.
    struct Setting: Codable, Sendable, Hashable {
        var shift = 0.0
        var stoppedAt: Date?
    }

    /// A change of the clock.
    ///
    /// Changes are applied in the order of the calls, each to the stored setting at that time. Therefore changes from two servers
    /// of the same state are all kept.
    struct Change: Sendable {
        enum Kind: Sendable {
            case move(Double)
            case set(Date)
            case stop, resume, reset
        }

        let kind: Kind
        /// The base clock's time at the change.
        let base: Date
        fileprivate let number: Int
        /// True after a task has taken the change to write it.
        fileprivate var isTaken: Bool

        func applied(to setting: Setting) -> Setting {
            let now = setting.stoppedAt ?? base.addingTimeInterval(setting.shift)
            switch kind {
            case .move(let seconds): return moved(setting, to: now.addingTimeInterval(seconds), by: seconds)
            case .set(let date): return moved(setting, to: date, by: date.timeIntervalSince(now))
            case .stop: return Setting(shift: setting.shift, stoppedAt: now)
            case .resume where setting.stoppedAt == nil: return setting
            case .resume: return Setting(shift: now.timeIntervalSince(base))
            case .reset: return Setting()
            }
        }

        private func moved(_ setting: Setting, to date: Date, by seconds: Double) -> Setting {
            setting.stoppedAt == nil
                ? Setting(shift: setting.shift + seconds) : Setting(shift: setting.shift, stoppedAt: date)
        }
    }

    private struct Memory: Sendable {
        /// The setting in the stored state.
        var kept = Setting()
        /// The changes that are not in the stored state yet.
        var unwritten: [Change] = []
        var changes = 0

        var setting: Setting { unwritten.reduce(kept) { $1.applied(to: $0) } }
    }

    private let base: any WallClock
    private let memory = Mutex(Memory())
    private let listener = Mutex<@Sendable () -> Void>({})
    private let observer = Mutex<@Sendable () -> Void>({})

    init(_ base: any WallClock) { self.base = base }

    /// The present setting, with the changes that wait to be written.
    var setting: Setting { memory.withLock { $0.setting } }

    /// The changes that wait to be written to the state.
    var unwritten: [Change] { memory.withLock { $0.unwritten } }

    /// Adopts the stored setting.
    ///
    /// Unwritten changes stay in effect.
    func adopt(_ setting: Setting) { update { $0.kept = setting } }

    /// Completes a change.
    ///
    /// `setting` is the new stored setting, or nil when the change could not be written and is undone.
    func complete(_ change: Change, as setting: Setting?) {
        update { memory in
            memory.unwritten.removeAll { $0.number == change.number }
            if let setting { memory.kept = setting }
        }
    }

    /// Sets the closure to call whenever the clock's setting changes, on this server or through the state.
    func onMove(_ notify: @escaping @Sendable () -> Void) {
        observer.withLock { $0 = notify }
    }

    private func update<R>(_ body: (inout Memory) -> R) -> R {
        let (result, hasMoved) = memory.withLock { memory in
            let before = memory.setting
            return (body(&memory), memory.setting != before)
        }
        if hasMoved {
            let notify = observer.withLock { $0 }
            notify()
        }
        return result
    }

    /// Sets the closure to call after each change that must be written.
    ///
    /// It should take the changes and write them.
    func onChange(_ notify: @escaping @Sendable () -> Void) {
        listener.withLock { $0 = notify }
    }

    /// Passes each change that was not taken yet to `write`, in order and once.
    func takeChanges(_ write: (Change) -> Void) {
        memory.withLock { memory in
            for index in memory.unwritten.indices where !memory.unwritten[index].isTaken {
                memory.unwritten[index].isTaken = true
                write(memory.unwritten[index])
            }
        }
    }

    /// Applies a change at once and marks it as taken.
    ///
    /// The caller writes it to the state.
    func begin(_ kind: Change.Kind) -> Change { addChange(kind, isTaken: true) }

    private func addChange(_ kind: Change.Kind, isTaken: Bool) -> Change {
        update { memory in
            memory.changes += 1
            let change = Change(kind: kind, base: base.now, number: memory.changes, isTaken: isTaken)
            memory.unwritten.append(change)
            return change
        }
    }

    private func change(_ kind: Change.Kind) {
        _ = addChange(kind, isTaken: false)
        let notify = listener.withLock { $0 }
        notify()
    }

    /// The server's time.
    public var now: Date {
        let setting = setting
        return setting.stoppedAt ?? base.now.addingTimeInterval(setting.shift)
    }

    /// The number of seconds that the clock is ahead of its base clock.
    public var offset: Double {
        let setting = setting
        return setting.stoppedAt.map { $0.timeIntervalSince(base.now) } ?? setting.shift
    }

    /// True when the clock is stopped.
    public var isStopped: Bool { setting.stoppedAt != nil }

    /// Moves the clock.
    /// - Parameter duration: The duration to move by; negative to move backwards.
    public func advance(by duration: Duration) { change(.move(duration / .seconds(1))) }

    /// Sets the clock.
    ///
    /// A running clock continues from that time, a stopped one stays at it.
    public func set(to date: Date) { change(.set(date)) }

    /// Stops the clock at its present time.
    public func stop() { change(.stop) }

    /// Restarts a stopped clock from the time at which it was stopped.
    public func resume() { change(.resume) }

    /// Makes the clock follow its base clock again.
    public func reset() { change(.reset) }
}
