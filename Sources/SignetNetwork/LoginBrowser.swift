import SignetCore

/// The browser in which the system shows a login: its window for logins on Apple's systems, and the user's default browser elsewhere.
package enum LoginBrowser {
    /// True when the system has a window for logins, which passes the answer to an app's own scheme to the app.
    package static var hasWindow: Bool {
        #if canImport(AuthenticationServices)
        true
        #else
        false
        #endif
    }

    /// Opens the address of a login.
    /// - Parameters:
    ///   - address: The confidential address.
    ///   - redirectURI: The redirect URI of the login.
    ///   - timeout: The timeout for the browser's request.
    ///   - isEphemeral: True for a window without the browser's cookies and other stored data. Only a window can be ephemeral.
    ///   - receiver: The receiver of the answer to an app's own scheme; nil for a loopback redirect URI.
    /// - Throws: `SystemBrowser.CannotOpen`; `CancellationError`.
    package static func open(
        _ address: String, returningTo redirectURI: String, within timeout: Duration, isEphemeral: Bool = false,
        to receiver: RedirectReceiver?
    ) async throws {
        #if canImport(AuthenticationServices)
        try await AuthenticationWindow.open(address, returningTo: redirectURI, isEphemeral: isEphemeral) { query in
            _ = receiver?.leave(query)
        }
        #else
        guard !isEphemeral else { throw SystemBrowser.CannotOpen(description: "the system has no window for logins") }
        try await SystemBrowser.open(confidential: Secret(address.utf8), within: timeout)
        #endif
    }
}
