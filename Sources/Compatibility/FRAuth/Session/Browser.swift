import FRCore
public import Foundation
import SignetCore
import SignetJourney
import SignetNetwork
import SignetOAuth

#if canImport(UIKit)
public import UIKit
#endif

/// The kind of browser for a login, as in the ForgeRock SDK.
///
/// A desktop system has one kind: the user's default browser.
public enum BrowserType: Int, Sendable, CaseIterable {
    /// The system's window for logins, on Apple's mobile systems.
    case authSession = 0
    /// The user's default browser.
    case nativeBrowserApp = 1
    /// A view inside the app, on Apple's mobile systems.
    case sfViewController = 2
    /// Like ``authSession``, but without the browser's cookies and other stored data.
    case ephemeralAuthSession = 3
}

extension FRUser {
    /// Returns a builder for a login in a browser (RFC 8252).
    ///
    /// Nil when the SDK is not started, when it has no OAuth 2.0 client, or when another such login is in progress.
    public static func browser() -> BrowserBuilder? {
        let process = FRAuthProcess.current
        guard let started = process.started, started.session.options.missingClient == nil, process.browser == nil else {
            return nil
        }
        return BrowserBuilder()
    }
}

/// A builder that configures a login in a browser.
public struct BrowserBuilder: Sendable {
    private var type = BrowserType.nativeBrowserApp
    private var parameters: [String: String] = [:]

    init() {}

    /// Sets the kind of browser.
    ///
    /// The default is ``BrowserType/nativeBrowserApp``. The login fails when the kind doesn't exist here; it never falls back to
    /// a browser that stores more data.
    public func set(browserType: BrowserType) -> BrowserBuilder {
        var builder = self
        builder.type = browserType
        return builder
    }

    #if canImport(UIKit)
    /// Returns the builder unchanged: the system chooses the window above which the login appears.
    @discardableResult
    public func set(presentingViewController: UIViewController) -> BrowserBuilder { self }
    #endif

    /// Adds a parameter to the authorization request, for example `acr_values`.
    ///
    /// Parameters that protect the request cannot be replaced.
    public func setCustomParam(key: String, value: String) -> BrowserBuilder {
        var builder = self
        builder.parameters[key] = value
        return builder
    }

    /// Returns the login, ready to start.
    public func build() -> Browser { Browser(type, parameters, process: FRAuthProcess.current) }
}

/// A login in a browser.
///
/// The client's redirect URI is either a loopback address, such as `http://127.0.0.1/callback`, or an address with a scheme of
/// the app's own, such as `com.example.app:/callback`. For such a scheme the system starts the app, which passes the address to
/// ``validateBrowserLogin(url:)-(String)``.
public final class Browser: NSObject, Sendable {
    private let type: BrowserType
    private let parameters: [String: String]
    private let process: FRAuthProcess
    private let attempt = Mutex(Attempt())
    private let failure = Mutex<String?>(nil)

    /// The reason for the last ``BrowserError/externalUserAgentFailure``; nil when the browser could be opened.
    public var lastFailure: String? { failure.withLock { $0 } }

    /// The state of one login.
    private struct Attempt: Sendable {
        var task: Task<FRUser, any Error>?
        /// The receiver of the redirect address that the system passes to the app.
        var receiver: RedirectReceiver?
        /// The reason for which the browser could not be opened.
        var unopened: String?
    }

    init(_ type: BrowserType, _ parameters: [String: String], process: FRAuthProcess) {
        self.type = type
        self.parameters = parameters
        self.process = process
    }

    /// The login that is in progress; nil when none is in progress.
    public static var currentBrowser: Browser? { FRAuthProcess.current.browser }

    /// True while this login is in progress.
    public var isInProgress: Bool { process.browser === self }

    /// Opens the browser, waits until the user finishes, and stores the tokens.
    /// - Throws: ``AuthError/userAlreadyAuthenticated(_:)`` when a token that has not expired is stored, but not after
    ///   ``AuthError/userAuthenticationRequired``; ``BrowserError``;
    ///   ``OAuth2Error``, with ``OAuth2Error/missingOrInvalidRedirectURI(_:)`` for a redirect URI that this process can't listen
    ///   on; `NetworkError`; ``ConfigError``.
    @discardableResult
    public func login() async throws -> FRUser {
        // The lock covers both steps, so that a task that sees the login in progress can also cancel it.
        let work = attempt.withLock { attempt -> Task<FRUser, any Error>? in
            guard process.begin(self) else { return nil }
            let work = Task { try await self.logIn() }
            attempt = Attempt(task: work)
            return work
        }
        guard let work else { throw BrowserError.externalUserAgentAuthenticationInProgress }
        defer {
            attempt.withLock { attempt in
                process.end(self)
                attempt = Attempt()
            }
        }
        return try await withTaskCancellationHandler {
            try await work.value
        } onCancel: {
            work.cancel()
        }
    }

    /// Logs in as ``login()`` does, and calls the completion once.
    public func login(completion: @escaping @Sendable (_ user: FRUser?, _ error: (any Error)?) -> Void) {
        FRUser.callBack(completion, login)
    }

    /// Ends the session and the tokens, and calls the completion once, without a user.
    ///
    /// The completion gets `NetworkError` when the server could not be told. The user is logged out on this machine anyway.
    public func logout(completion: @escaping UserCallback) {
        let user = FRUser(process)
        Task {
            let report = await user.logout(forceEndSession: true).value
            completion(nil, report.isComplete ? nil : NetworkError.apiRequestFailure(nil, nil, nil))
        }
    }

    /// Cancels the login, which then throws ``BrowserError/externalUserAgentCancelled``.
    ///
    /// Does nothing when the login is not in progress.
    public func cancel() { attempt.withLock { $0.task }?.cancel() }

    /// Passes the address that the system started the app with to the login in progress.
    /// - Returns: True when the address is the answer to that login; the login itself then reads the result. Any other address is
    ///   ignored, because it may be meant for another part of the app.
    @discardableResult
    public static func validateBrowserLogin(url: String) -> Bool {
        guard let browser = currentBrowser, let ours = browser.process.started?.session.options.oauthRedirectUri,
            AuthorizationResponse.isAnswer(url, to: ours)
        else { return false }
        let query = url.prefix { $0 != "#" }.drop { $0 != "?" }.dropFirst()
        return browser.attempt.withLock { $0.receiver }?.leave(String(query)) ?? false
    }

    /// Passes a `URL` to the login in progress; see ``validateBrowserLogin(url:)-(String)``.
    ///
    /// The ForgeRock SDK takes a `URL`.
    @discardableResult
    public static func validateBrowserLogin(url: URL) -> Bool { validateBrowserLogin(url: url.absoluteString) }

    private func logIn() async throws -> FRUser {
        // The login was canceled before it started: don't open the browser.
        guard !Task.isCancelled else { throw BrowserError.externalUserAgentCancelled }
        guard type == .nativeBrowserApp || Self.hasWindow(type) else {
            throw BrowserError.externalUserAgentFailure
        }
        guard let started = process.started else { throw ConfigError.invalidSDKState }
        if let missing = started.session.options.missingClient { throw missing }
        let stored = try await started.session.current()
        // An expired token doesn't prevent the login: the server may issue a new one only after the user logs in again. Neither
        // does a valid one when a login is required, for example because it was rejected and can't be renewed.
        let isExpired = stored.ownToken?.isExpired(at: process.settings.clock.now) ?? true
        guard isExpired || started.session.requiresLogin else { throw AuthError.userAlreadyAuthenticated(true) }
        let receiver = Self.isAppsOwn(started.session.options.oauthRedirectUri) ? RedirectReceiver() : nil
        let open = opener(started.session.options.oauthRedirectUri ?? "", receiver)
        attempt.withLock { $0.receiver = receiver }
        do {
            _ = try await started.session.run { tokens in
                try await BrowserLogin(tokens) { address in
                    do {
                        try await open(address)
                    } catch {
                        // The task is canceled once the answer has arrived. A failure to open the browser doesn't matter then.
                        if !Task.isCancelled { self.attempt.withLock { $0.unopened = "\(error)" } }
                        throw error
                    }
                }.logIn(returningTo: receiver, adding: self.parameters)
            }
        } catch {
            if !Task.isCancelled, let reason = attempt.withLock({ $0.unopened }) {
                failure.withLock { $0 = reason }
                throw BrowserError.externalUserAgentFailure
            }
            throw error as? AuthError == .authenticationCancelled ? BrowserError.externalUserAgentCancelled : error
        }
        return FRUser(process)
    }

    /// True when the system has a window for logins of this kind.
    private static func hasWindow(_ type: BrowserType) -> Bool {
        LoginBrowser.hasWindow && (type == .authSession || type == .ephemeralAuthSession)
    }

    /// Returns the function that opens an address in a browser of the chosen kind.
    private func opener(_ redirectURI: String, _ receiver: RedirectReceiver?) -> BrowserLogin.Opener {
        guard Self.hasWindow(type) else { return process.settings.openBrowser }
        let isEphemeral = type == .ephemeralAuthSession
        return { address in
            try await LoginBrowser.open(
                address, returningTo: redirectURI, within: .seconds(300), isEphemeral: isEphemeral, to: receiver)
        }
    }

    /// True when a redirect URI has a scheme of the app's own.
    ///
    /// The system then starts the app, and no listener receives the answer.
    private static func isAppsOwn(_ redirectURI: String?) -> Bool {
        guard let scheme = redirectURI?.prefix(while: { $0 != ":" }).lowercased() else { return false }
        return scheme != "http" && scheme != "https"
    }
}
