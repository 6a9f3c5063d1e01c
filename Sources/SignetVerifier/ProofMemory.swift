import SignetCore

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The memory of received DPoP proofs, which recognizes a proof that arrives a second time (RFC 9449 section 11.1).
///
/// ``ProcessProofMemory`` is for a service of one process. A service of several processes implements this protocol over a store that
/// they share.
public protocol ProofMemory: Sendable {
    /// Remembers a proof.
    /// - Parameters:
    ///   - digest: A text of fixed length that no other proof has.
    ///   - end: The time until which the proof must be remembered.
    ///   - now: The current time. Proofs whose `end` is earlier may be forgotten.
    /// - Returns: True for a proof that is new; false for one that is remembered.
    /// - Throws: `AccessTokenError` with the code `memoryFull` when the memory is full; any error of the store.
    func remember(_ digest: String, until end: Date, now: Date) async throws -> Bool
}

/// A memory of received DPoP proofs for a service of one process.
///
/// When it is full, it first forgets the proofs that have expired. When no proof has expired, it accepts none, because to forget a
/// proof would allow its repetition.
public final class ProcessProofMemory: ProofMemory {
    /// The maximum number of proofs by default.
    public static let defaultCapacity = 100_000

    private struct State: Sendable {
        var ends: [String: Date] = [:]
        /// The earliest end after the last removal of expired proofs; before it, another removal finds none.
        var firstEnd = Date.distantPast
    }

    private let capacity: Int
    private let state = Mutex(State())

    /// Creates an empty memory.
    /// - Parameter capacity: The maximum number of proofs.
    public init(capacity: Int = defaultCapacity) { self.capacity = capacity }

    /// Remembers a proof; see ``ProofMemory/remember(_:until:now:)``.
    /// - Parameters:
    ///   - digest: A text that no other proof has.
    ///   - end: The time until which the proof must be remembered.
    ///   - now: The current time.
    /// - Returns: True for a proof that is new.
    /// - Throws: `AccessTokenError` with the code `memoryFull`.
    public func remember(_ digest: String, until end: Date, now: Date) throws -> Bool {
        let isNew = state.withLock { state -> Bool? in
            if let known = state.ends[digest], known >= now { return false }
            if state.ends.count >= capacity, state.firstEnd < now {
                state.ends = state.ends.filter { $0.value >= now }
                state.firstEnd = state.ends.values.min() ?? .distantPast
            }
            guard state.ends.count < capacity else { return nil }
            state.ends[digest] = end
            return true
        }
        guard let isNew else { throw AccessTokenError(.memoryFull, isRetryable: true) }
        return isNew
    }
}
