#if canImport(AuthenticationServices)
import AuthenticationServices
import Foundation
import SignetCore

/// The system's window for logins on Apple's systems (`ASWebAuthenticationSession`).
///
/// It has not been run on a Mac or an iPhone yet. It is type-checked on Linux (`scripts/check-apple`).
@MainActor
final class AuthenticationWindow: NSObject, ASWebAuthenticationPresentationContextProviding {
    private var session: ASWebAuthenticationSession?

    /// Opens an address in the window, and returns when the window is closed.
    ///
    /// The window closes when the server redirects to the app's own scheme, or when the task is canceled, as after an answer on a
    /// loopback address.
    /// - Parameters:
    ///   - address: The confidential address, which no other app can read.
    ///   - redirectURI: The redirect URI of the login.
    ///   - isEphemeral: True for a window without the browser's cookies and other stored data.
    ///   - receive: Receives the query of the redirect address, when it has the app's own scheme.
    /// - Throws: `SystemBrowser.CannotOpen`; `CancellationError` when the user closes the window or the task is canceled.
    static func open(
        _ address: String, returningTo redirectURI: String, isEphemeral: Bool = false,
        receive: @escaping @Sendable (_ query: String) -> Void
    ) async throws {
        guard address.hasPrefix("https://") || address.hasPrefix("http://"), let url = URL(string: address) else {
            throw SystemBrowser.CannotOpen(description: "not a web address")
        }
        let window = AuthenticationWindow()
        let end = End()
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                guard end.wait(continuation) else { return }
                window.show(url, scheme(of: redirectURI), isEphemeral, end, receive)
            }
        } onCancel: {
            end.finish(.failure(CancellationError()))
            Task { @MainActor in window.session?.cancel() }
        }
    }

    private func show(
        _ url: URL, _ scheme: String, _ isEphemeral: Bool, _ end: End, _ receive: @escaping @Sendable (String) -> Void
    ) {
        let session = ASWebAuthenticationSession(url: url, callback: .customScheme(scheme)) { answer, error in
            if let answer {
                receive(String(answer.absoluteString.prefix { $0 != "#" }.drop { $0 != "?" }.dropFirst()))
                end.finish(.success(()))
            } else if (error as? ASWebAuthenticationSessionError)?.code == .canceledLogin {
                end.finish(.failure(CancellationError()))
            } else {
                end.finish(.failure(SystemBrowser.CannotOpen(description: "the system's window for logins could not be shown")))
            }
        }
        session.presentationContextProvider = self
        session.prefersEphemeralWebBrowserSession = isEphemeral
        self.session = session
        if !session.start() {
            end.finish(.failure(SystemBrowser.CannotOpen(description: "the system's window for logins could not be shown")))
        }
    }

    /// Returns the window of the app above which the login appears: a new one, for which the system finds the place.
    func presentationAnchor(for session: ASWebAuthenticationSession) -> ASPresentationAnchor { ASPresentationAnchor() }

    /// The scheme to which the window reacts.
    ///
    /// With a loopback redirect URI, it is one that no server redirects to.
    private static func scheme(of redirectURI: String) -> String {
        let scheme = redirectURI.prefix { $0 != ":" }.lowercased()
        return ["http", "https"].contains(scheme) ? "signet-loopback" : scheme
    }

    /// The end of a login, of which only the first counts.
    private final class End: Sendable {
        private let state = Mutex<(continuation: CheckedContinuation<Void, any Error>?, result: Result<Void, any Error>?)>(
            (nil, nil))

        /// Stores the continuation; returns false when the login ended before.
        func wait(_ continuation: CheckedContinuation<Void, any Error>) -> Bool {
            let result = state.withLock { state in
                if state.result == nil { state.continuation = continuation }
                return state.result
            }
            if let result { continuation.resume(with: result) }
            return result == nil
        }

        func finish(_ result: Result<Void, any Error>) {
            let continuation = state.withLock { state in
                guard state.result == nil else { return nil as CheckedContinuation<Void, any Error>? }
                state.result = result
                defer { state.continuation = nil }
                return state.continuation
            }
            continuation?.resume(with: result)
        }
    }
}
#endif
