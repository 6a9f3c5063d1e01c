import Crypto
import SignetCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The access tokens about which the provider has answered shortly before, by their digests.
///
/// Refused tokens are not remembered: each of them would be another one.
final class KnownTokens: Sendable {
    private struct Entry: Sendable {
        let token: VerifiedAccessToken
        let end: Date
    }

    private let lifetime: Double
    private let capacity: Int
    private let entries = Mutex<[SHA256Digest: Entry]>([:])

    /// Creates an empty memory.
    /// - Parameters:
    ///   - lifetime: The time for which an answer is remembered.
    ///   - capacity: The maximum number of tokens; further ones are not remembered.
    init(lifetime: Duration, capacity: Int = 10_000) {
        self.lifetime = lifetime.seconds
        self.capacity = capacity
    }

    /// Returns a remembered token; nil when it isn't remembered, or not any longer.
    func token(_ text: Secret, now: Date) -> VerifiedAccessToken? {
        guard lifetime > 0 else { return nil }
        let digest = Self.digest(of: text)
        return entries.withLock { entries in entries[digest].flatMap { now < $0.end ? $0.token : nil } }
    }

    /// Remembers a token, at most until it expires.
    func remember(_ token: VerifiedAccessToken, _ text: Secret, now: Date) {
        guard lifetime > 0 else { return }
        let digest = Self.digest(of: text)
        let end = min(now + lifetime, token.expiresAt ?? .distantFuture)
        entries.withLock { entries in
            if entries.count >= capacity { entries = entries.filter { now < $0.value.end } }
            guard entries.count < capacity else { return }
            entries[digest] = Entry(token: token, end: end)
        }
    }

    private static func digest(of text: Secret) -> SHA256Digest {
        text.withUnsafeBytes { bytes in
            var hash = SHA256()
            hash.update(bufferPointer: bytes)
            return hash.finalize()
        }
    }
}
