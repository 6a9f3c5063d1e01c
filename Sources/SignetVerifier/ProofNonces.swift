import Crypto
public import SignetCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The nonces that a service requires in DPoP proofs (RFC 9449 section 9).
///
/// With a nonce, a client can't make proofs in advance for a later time. A nonce is the current time period with an authentication
/// code, so that the service stores none of them, and the processes of a service that share the key accept each other's nonces.
public struct ProofNonces: Sendable, Hashable {
    private let key: Secret
    private let period: Double

    /// Creates nonces with a random key, for a service of one process.
    /// - Parameter period: The time after which there is a new nonce. A nonce is accepted for this time after it was replaced.
    public init(period: Duration = .seconds(300)) {
        self.init(key: .random(byteCount: 32), period: period)
    }

    /// Creates nonces with a key that all processes of a service have.
    /// - Parameters:
    ///   - key: The key: at least 32 random bytes.
    ///   - period: The time after which there is a new nonce. A nonce is accepted for this time after it was replaced.
    public init(key: Secret, period: Duration = .seconds(300)) {
        self.key = key
        self.period = max(1, period.seconds)
    }

    /// Returns the nonce of a time.
    func nonce(at now: Date) -> String { nonce(ofPeriod: number(at: now)) }

    /// Returns true for the current nonce and for the one before it.
    func accepts(_ nonce: String, at now: Date) -> Bool {
        let current = number(at: now)
        return [current, current - 1].contains { ConstantTime.areEqual(self.nonce(ofPeriod: $0), nonce) }
    }

    private func number(at now: Date) -> Int64 { Int64((now.timeIntervalSince1970 / period).rounded(.down)) }

    private func nonce(ofPeriod number: Int64) -> String {
        let text = withUnsafeBytes(of: number.bigEndian) { Array($0) }
        return Base64.encode(Array(HMAC<SHA256>.authenticationCode(for: text, using: key.key)).prefix(18), as: .url)
    }
}
