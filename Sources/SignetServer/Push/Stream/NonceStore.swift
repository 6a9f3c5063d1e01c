import Foundation
import SignetCore

/// The nonces of the push stream.
///
/// An issued nonce needs no memory, because it contains its own time and the server's signature. Only nonces that were used in a
/// valid proof are stored, and only until they expire, so unauthenticated clients cannot fill the store.
struct NonceStore {
    /// The time in seconds after which a nonce expires.
    static let lifetime = 60.0

    private struct Nonce: Codable {
        let value: String
        /// The time of issue, in milliseconds since 1970.
        let issued: Int64
    }

    private let key: Secret
    private var used: Table<String, Bool>
    private let now: Date

    /// Creates the store.
    /// - Parameters:
    ///   - transaction: The transaction that reads and writes used nonces.
    ///   - key: The key that signs nonces. Servers that share a state share this key.
    init(_ transaction: RowCache, key: Secret) {
        self.key = key
        used = Table(.nonce, transaction)
        now = transaction.now
    }

    func issue() throws -> String {
        let nonce = Nonce(value: RandomID.token(), issued: Int64(now.timeIntervalSince1970 * 1000))
        return CompactJWS.sign(try JSON.encode(nonce), with: key)
    }

    /// Returns true when the server issued the nonce, it has not expired, and it is used for the first time.
    ///
    /// A full store accepts no nonce, because a device that has to wait is safer than a proof that can be replayed.
    mutating func redeem(_ text: String) throws -> Bool {
        guard let payload = try? CompactJWS(text).payload(verifiedWith: key),
            let nonce = try? JSON.decode(Nonce.self, from: payload)
        else { return false }
        let issued = Date(timeIntervalSince1970: Double(nonce.issued) / 1000)
        let end = issued.addingTimeInterval(Self.lifetime)
        guard now < end, try used[nonce.value] == nil, try !used.isFull() else { return false }
        used.insert(true, for: nonce.value, until: end)
        return true
    }
}
