public import SignetCore
import Synchronization

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The one clock of a server: that which it was given, and how far somebody who tests has moved it, or where they have stopped it.
///
/// Every timeout, code and signature goes by it. How long a connection is kept open, and how long a fault delays an answer, goes by the
/// machine's clock: nobody could wait for those otherwise while it stands still.
///
/// What is done to it is true at once, and kept with the state, for all servers of that. If it cannot be written the clock goes back to
/// what the state says, and the log says so.
public final class AdjustableClock: WallClock {
    /// What somebody who tests has done to it, as it is kept with the state.
    struct Setting: Codable, Sendable, Hashable {
        var shift = 0.0
        var stoppedAt: Date?
    }

    /// Something done to it, in the order of the calls: each is applied to what the state says then, so that nothing is lost of what
    /// two servers of one state do to their clock.
    struct Change: Sendable {
        enum Kind: Sendable {
            case move(Double)
            case set(Date)
            case stop, resume, reset
        }

        let kind: Kind
        /// What the clock that it was given said.
        let base: Date
        fileprivate let number: Int
        /// Whether somebody has it written already.
        fileprivate var isTaken: Bool

        func applied(to setting: Setting) -> Setting {
            let now = setting.stoppedAt ?? base.addingTimeInterval(setting.shift)
            switch kind {
            case .move(let seconds): return moved(setting, to: now.addingTimeInterval(seconds), by: seconds)
            case .set(let moment): return moved(setting, to: moment, by: moment.timeIntervalSince(now))
            case .stop: return Setting(shift: setting.shift, stoppedAt: now)
            case .resume where setting.stoppedAt == nil: return setting
            case .resume: return Setting(shift: now.timeIntervalSince(base))
            case .reset: return Setting()
            }
        }

        private func moved(_ setting: Setting, to moment: Date, by seconds: Double) -> Setting {
            setting.stoppedAt == nil
                ? Setting(shift: setting.shift + seconds) : Setting(shift: setting.shift, stoppedAt: moment)
        }
    }

    private struct Memory: Sendable {
        /// As it is in the state.
        var kept = Setting()
        /// What was done to it since, and is not in the state yet.
        var unwritten: [Change] = []
        var changes = 0

        var setting: Setting { unwritten.reduce(kept) { $1.applied(to: $0) } }
    }

    private let base: any WallClock
    private let memory = Mutex(Memory())
    private let listener = Mutex<@Sendable () -> Void>({})
    private let onlooker = Mutex<@Sendable () -> Void>({})

    init(_ base: any WallClock) { self.base = base }

    private var setting: Setting { memory.withLock { $0.setting } }

    /// What waits to be written with the state.
    var unwritten: [Change] { memory.withLock { $0.unwritten } }

    /// Goes by what the state says. What is not written yet stays.
    func adopt(_ setting: Setting) { update { $0.kept = setting } }

    /// Says that a change is in the state, and what that is then; or nil when it could not be written: it is taken back.
    func settle(_ change: Change, as setting: Setting?) {
        update { memory in
            memory.unwritten.removeAll { $0.number == change.number }
            if let setting { memory.kept = setting }
        }
    }

    /// Has `tell` called whenever it says another time than it would have said, whoever did that.
    func onMove(_ tell: @escaping @Sendable () -> Void) {
        onlooker.withLock { $0 = tell }
    }

    private func update<R>(_ body: (inout Memory) -> R) -> R {
        let (result, hasMoved) = memory.withLock { memory in
            let before = memory.setting
            return (body(&memory), memory.setting != before)
        }
        if hasMoved {
            let tell = onlooker.withLock { $0 }
            tell()
        }
        return result
    }

    /// Has `tell` called after each change, which is then to be taken and written.
    func onChange(_ tell: @escaping @Sendable () -> Void) {
        listener.withLock { $0 = tell }
    }

    /// Gives each change that nobody has taken yet to `write`, once, in their order.
    func takeChanges(_ write: (Change) -> Void) {
        memory.withLock { memory in
            for index in memory.unwritten.indices where !memory.unwritten[index].isTaken {
                memory.unwritten[index].isTaken = true
                write(memory.unwritten[index])
            }
        }
    }

    /// Does something to it, at once, and takes the change: who calls this has it written.
    func begin(_ kind: Change.Kind) -> Change { note(kind, isTaken: true) }

    private func note(_ kind: Change.Kind, isTaken: Bool) -> Change {
        update { memory in
            memory.changes += 1
            let change = Change(kind: kind, base: base.now, number: memory.changes, isTaken: isTaken)
            memory.unwritten.append(change)
            return change
        }
    }

    private func change(_ kind: Change.Kind) {
        _ = note(kind, isTaken: false)
        let tell = listener.withLock { $0 }
        tell()
    }

    /// What time it is at the server.
    public var now: Date {
        let setting = setting
        return setting.stoppedAt ?? base.now.addingTimeInterval(setting.shift)
    }

    /// How many seconds it is ahead of the clock that it was given.
    public var offset: Double {
        let setting = setting
        return setting.stoppedAt.map { $0.timeIntervalSince(base.now) } ?? setting.shift
    }

    /// Whether it stands still.
    public var isStopped: Bool { setting.stoppedAt != nil }

    /// Moves it.
    /// - Parameter duration: How far; backwards if negative.
    public func advance(by duration: Duration) { change(.move(duration / .seconds(1))) }

    /// Sets it. A clock that runs goes on from there, one that was stopped stands still there.
    public func set(to moment: Date) { change(.set(moment)) }

    /// Stops it where it is.
    public func stop() { change(.stop) }

    /// Lets it run on from where it was stopped.
    public func resume() { change(.resume) }

    /// Goes by the clock that it was given again.
    public func reset() { change(.reset) }
}
