import Crypto
import SignetCore

extension ServerTransaction {
    /// Returns a MAC (HMAC-SHA-256) of a string, which only this server can compute.
    ///
    /// Each use begins the string with a distinct word, so that a MAC for one use isn't valid for another.
    func mac(_ text: String) -> String {
        let code = HMAC<SHA256>.authenticationCode(for: Array(text.utf8), using: authIDKey.key)
        return code.withUnsafeBytes { Base64.encode($0, as: .url) }
    }

    /// Returns the CSRF token of a session's forms.
    ///
    /// It is bound to the session.
    func csrf(of token: String) -> String { mac("csrf \(token)") }
}
