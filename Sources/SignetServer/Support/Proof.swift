import Crypto
import SignetCore

extension ServerTransaction {
    /// A keyed digest of a text: what only this server can make. Every use begins its text with a word of its own, so that none
    /// is good for another.
    func proof(_ text: String) -> String {
        let mac = HMAC<SHA256>.authenticationCode(for: Array(text.utf8), using: authIDKey.key)
        return mac.withUnsafeBytes { Base64.encode($0, as: .url) }
    }

    /// What a form of a session carries, so that nobody else can send it: bound to the session, and no use anywhere else.
    func csrf(of token: String) -> String { proof("csrf \(token)") }
}
