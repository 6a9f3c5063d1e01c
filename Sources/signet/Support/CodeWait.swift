import Foundation
import SignetCore

/// Waits for a code that is valid for some more seconds, so that the user has the time to type it.
struct CodeWait {
    /// The seconds that are enough when the user names no number.
    static let usualSeconds = 5

    /// The least number of seconds for which the code must be valid.
    let seconds: Int
    /// Returns the current time.
    let now: () -> Date
    /// Suspends the task for a time.
    let sleep: (Duration) async throws -> Void

    /// Returns a code that is valid for long enough: the first one, or else the one of the next period.
    ///
    /// The code of a counter has no end, so it is returned at once.
    /// - Parameters:
    ///   - first: The current code.
    ///   - waits: Called with the seconds until the next code, before the task is suspended.
    ///   - read: Returns the code that is current then.
    /// - Returns: The code.
    /// - Throws: ``Failure`` when no code of the mechanism is valid for so long; the errors of `sleep` and `read`.
    func code(
        after first: OneTimeCode, announcing waits: (Int) -> Void = { _ in }, read: () async throws -> OneTimeCode
    ) async throws -> OneTimeCode {
        var code = first
        while case .time(let start, let end) = code.basis {
            let date = now()
            let period = Int(end.timeIntervalSince(start).rounded())
            guard seconds <= period else {
                throw Failure(
                    .badInput, "wait", "the codes of this account are valid for \(period) seconds, and never for \(seconds)")
            }
            let left = code.secondsLeft(at: date) ?? 0
            guard left < seconds else { break }
            if left > 0 {
                waits(left)
                try await sleep(.seconds(end.timeIntervalSince(date)))
            }
            code = try await read()
        }
        return code
    }
}
