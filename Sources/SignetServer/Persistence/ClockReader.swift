import Foundation
import Logging
import SignetCore
import SignetStorage

/// Reads the clock again after another server has set it.
///
/// It retries after errors, because the notification is sent only once.
final class ClockReader: Sendable {
    /// The pauses between failed attempts.
    ///
    /// Each is twice as long as the one before, up to the longest.
    private static let pauses = (first: Duration.milliseconds(100), max: Duration.seconds(30))

    /// Returns the transaction queue; nil after the state was closed and the queue was released.
    private let engine: @Sendable () -> TransactionQueue?
    private let logger: Logger
    /// The number of the latest call of ``read()``.
    ///
    /// The attempts of earlier calls end.
    private let newest = Mutex(0)

    init(_ engine: TransactionQueue, _ logger: Logger) {
        self.engine = { [weak engine] in engine }
        self.logger = logger
    }

    /// Reads the clock in the background, and retries until it succeeds.
    ///
    /// It does not retry when the row itself cannot be read; the server that overwrites such a row sends a new notification.
    /// - Returns: The task, which ends with the last attempt.
    @discardableResult
    func read() -> Task<Void, Never> {
        let number = newest.withLock { newest in
            newest += 1
            return newest
        }
        return Task { await attempt(number) }
    }

    private func attempt(_ number: Int) async {
        var pause = Self.pauses.first
        while newest.withLock({ $0 }) == number, let engine = engine() {
            do {
                return try await engine.readClock()
            } catch {
                logger.error("the clock that another server has set could not be read", metadata: ["error": "\(error)"])
                guard (error as? StoreError)?.isRecordScoped != true else { return }
            }
            guard (try? await Task.sleep(for: pause)) != nil else { return }
            pause = min(pause * 2, Self.pauses.max)
        }
    }
}
