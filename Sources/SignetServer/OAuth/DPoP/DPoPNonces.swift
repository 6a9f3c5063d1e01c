import Foundation
import SignetCore

// The nonces of DPoP proofs (RFC 9449 section 8). A nonce needs no memory: it contains the number of its period and a MAC with the
// key that servers of one state share.
extension ServerTransaction {
    /// A new nonce, which is valid until the end of the next period.
    var newDPoPNonce: String { dpopNonce(period: currentPeriod, salt: Base64.encode(RandomID.bytes(6), as: .url)) }

    /// Returns true for a nonce of this or of the last period.
    func isDPoPNonce(_ nonce: String) -> Bool {
        let parts = nonce.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let period = Int64(parts[0]), [currentPeriod, currentPeriod - 1].contains(period) else {
            return false
        }
        return ConstantTime.areEqual(nonce, dpopNonce(period: period, salt: String(parts[1])))
    }

    private var currentPeriod: Int64 {
        Int64((now.timeIntervalSince1970 / Double(max(1, time.configuration.dpop.nonceLifetime))).rounded(.down))
    }

    private func dpopNonce(period: Int64, salt: String) -> String { "\(period).\(salt).\(mac("dpop \(period) \(salt)"))" }
}
