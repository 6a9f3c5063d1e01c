import Foundation
import SignetCore

/// The signals between the parts that store logout tokens, the clock and the workers that send the tokens.
///
/// The tokens themselves are in the state.
final class LogoutSignals: Sendable {
    private struct State: Sendable {
        var schedules: [LogoutSchedule] = []
        /// The time of the next attempt, by the server's clock; nil when no token waits for one.
        var next: Date?
    }

    private let state = Mutex(State())

    /// Makes the workers look for tokens in the state.
    func wake() {
        for schedule in state.withLock({ $0.schedules }) { schedule.requestSearch() }
    }

    /// Sets the time of the next attempt.
    func expect(_ next: Date?) { state.withLock { $0.next = next } }

    /// Returns true when the time of the next attempt has come.
    func isDue(at now: Date) -> Bool { state.withLock { $0.next.map { $0 <= now } ?? false } }

    /// Adds the schedule of a worker.
    func join(_ schedule: LogoutSchedule) { state.withLock { $0.schedules.append(schedule) } }

    /// Removes the schedule of a worker.
    func leave(_ schedule: LogoutSchedule) { state.withLock { $0.schedules.removeAll { $0 === schedule } } }
}
