import SignetCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The desk's nonces. One that is handed out costs no memory: it carries its own time and the desk's signature. Only those
/// that were used in a right proof are kept, until they are too old anyway; so strangers cannot fill the book.
struct NonceStore {
    /// The age, in seconds, at which a nonce is worth nothing.
    static let lifetime = 60.0

    private struct Nonce: Codable {
        let value: String
        /// Milliseconds since 1970.
        let issued: Int64
    }

    private let key: Secret
    private var used: Table<String, Bool>

    /// - Parameter key: what nonces are signed with; servers that share their state have the same.
    init(_ transaction: RowCache, key: Secret) {
        self.key = key
        used = Table(.nonce, transaction)
    }

    func issue(at now: Date) throws -> String {
        let nonce = Nonce(value: RandomID.token(), issued: Int64(now.timeIntervalSince1970 * 1000))
        return CompactJWS.sign(try JSON.encode(nonce), with: key)
    }

    /// Whether the nonce is the desk's, fresh, and used for the first time. A full book takes none: better that a device has to
    /// wait than that a proof is good twice.
    mutating func redeem(_ text: String, at now: Date) -> Bool {
        guard let payload = try? CompactJWS(text).payload(verifiedWith: key),
            let nonce = try? JSON.decode(Nonce.self, from: payload)
        else { return false }
        let issued = Date(timeIntervalSince1970: Double(nonce.issued) / 1000)
        let end = issued.addingTimeInterval(Self.lifetime)
        guard now < end, used.value(for: nonce.value, at: now) == nil, !used.isFull(at: now) else { return false }
        used.insert(true, for: nonce.value, until: end)
        return true
    }
}
