import Foundation
import SignetCore

/// The traces of the newest logins, in the memory of one process.
///
/// Servers that share their state have separate traces, each of the requests that it answered.
final class LoginTraces: Sendable {
    private struct State: Sendable {
        /// The traces, as a ring buffer: login number n is at index (n - first) modulo the capacity.
        var traces: [LoginTrace] = []
        /// The number of the login of each journey in `traces`, and the other way around.
        var numbers: [String: Int] = [:]
        var ids: [String] = []
        var count = 0
        var first = 1
    }

    private let capacity: Int
    private let state = Mutex(State())

    /// Creates the store.
    /// - Parameter capacity: The maximum number of logins that are kept; 0 for none.
    init(capacity: Int) { self.capacity = max(0, capacity) }

    /// The traces, oldest first.
    var all: [LoginTrace] {
        state.withLock { state in
            guard state.traces.count == capacity, capacity > 0 else { return state.traces }
            let start = (state.count - state.first + 1) % capacity
            return Array(state.traces[start...] + state.traces[..<start])
        }
    }

    /// The number of the newest login, which is also the number of all logins so far.
    var last: Int { state.withLock { $0.count } }

    /// Returns the trace with a number; nil when it doesn't exist, or was displaced by newer ones.
    subscript(number: Int) -> LoginTrace? {
        state.withLock { state in
            guard capacity > 0, number >= state.first, number <= state.count else { return nil }
            let trace = state.traces[(number - state.first) % capacity]
            return trace.number == number ? trace : nil
        }
    }

    /// Adds the part of a login that one request ran.
    func add(_ progress: LoginProgress, at now: Date) {
        guard capacity > 0 else { return }
        state.withLock { state in
            if let number = state.numbers[progress.id] {
                state.traces[(number - state.first) % capacity].add(progress, at: now)
            } else if !progress.visits.isEmpty {
                state.count += 1
                state.numbers[progress.id] = state.count
                let trace = LoginTrace(number: state.count, progress, at: now)
                if state.traces.count < capacity {
                    state.traces.append(trace)
                    state.ids.append(progress.id)
                } else {
                    let index = (state.count - state.first) % capacity
                    state.numbers[state.ids[index]] = nil
                    (state.traces[index], state.ids[index]) = (trace, progress.id)
                }
            }
        }
    }

    /// Removes the traces.
    ///
    /// Their numbers are not reused.
    func clear() {
        state.withLock { state in
            state.first = state.count + 1
            (state.traces, state.numbers, state.ids) = ([], [:], [])
        }
    }
}
