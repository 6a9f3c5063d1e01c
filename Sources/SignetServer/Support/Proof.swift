import Crypto
import SignetCore

extension ServerTransaction {
    /// Returns a MAC (HMAC-SHA-256) of a text that only this server can compute.
    ///
    /// Each use begins the text with a distinct word, so that a proof for one use isn't valid for another.
    func proof(_ text: String) -> String {
        let mac = HMAC<SHA256>.authenticationCode(for: Array(text.utf8), using: authIDKey.key)
        return mac.withUnsafeBytes { Base64.encode($0, as: .url) }
    }

    /// Returns the CSRF token of a session's forms.
    ///
    /// It is bound to the session.
    func csrf(of token: String) -> String { proof("csrf \(token)") }
}
