import SignetCore
import SignetJourney
import SignetNetwork
import Synchronization

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Which browser a login goes to, as the original has them. Where there is a desktop there is one: the person's own.
public enum BrowserType: Int, Sendable, CaseIterable {
    /// A window of the system for logins; on Apple's mobile systems.
    case authSession = 0
    /// The person's own browser.
    case nativeBrowserApp = 1
    /// A view inside the app; on Apple's mobile systems.
    case sfViewController = 2
    /// As ``authSession``, without what the browser remembers.
    case ephemeralAuthSession = 3
}

extension FRUser {
    /// Begins to make a login in a browser (RFC 8252). Nil when the SDK is not started, has no OAuth 2.0 client, or such a login is under
    /// way.
    public static func browser() -> BrowserBuilder? {
        let process = FRAuthProcess.current
        guard let started = process.started, started.options.missingClient == nil, process.browser == nil else { return nil }
        return BrowserBuilder()
    }
}

/// Says how a login in a browser is to be.
public struct BrowserBuilder: Sendable {
    private var type = BrowserType.nativeBrowserApp
    private var parameters: [String: String] = [:]

    init() {}

    /// Which browser; ``BrowserType/nativeBrowserApp`` unless this is called. With one that is not here the login fails and says so: none
    /// that remembers more takes its place.
    public func set(browserType: BrowserType) -> BrowserBuilder {
        var builder = self
        builder.type = browserType
        return builder
    }

    /// One more parameter of the authorization request, for example `acr_values`. What protects the request cannot be replaced.
    public func setCustomParam(key: String, value: String) -> BrowserBuilder {
        var builder = self
        builder.parameters[key] = value
        return builder
    }

    /// The login, ready to begin.
    public func build() -> Browser { Browser(type, parameters, process: FRAuthProcess.current) }
}

/// A login in a browser. The redirect address of the client is one of the loopback, such as `http://127.0.0.1/callback`, or one of a scheme
/// of the app's own, such as `com.example.app:/callback`, for which the system starts the app: it hands the address to
/// ``validateBrowserLogin(url:)-(String)`` then.
public final class Browser: Sendable {
    private let type: BrowserType
    private let parameters: [String: String]
    private let process: FRAuthProcess
    private let attempt = Mutex(Attempt())

    /// One login.
    private struct Attempt: Sendable {
        var task: Task<FRUser, any Error>?
        /// Where the answer is left that the system gives the app.
        var receiver: RedirectReceiver?
        /// Why the browser could not be opened.
        var unopened: String?
    }

    init(_ type: BrowserType, _ parameters: [String: String], process: FRAuthProcess) {
        self.type = type
        self.parameters = parameters
        self.process = process
    }

    /// The login that is under way; nil when none is.
    public static var currentBrowser: Browser? { FRAuthProcess.current.browser }

    /// Whether this login is under way.
    public var isInProgress: Bool { process.browser === self }

    /// Opens the browser, waits for the person to finish, and keeps the tokens.
    /// - Throws: ``AuthError/userAlreadyAuthenticated(_:)`` where there is a token that has not ended; ``BrowserError``; ``OAuth2Error``, with
    ///   ``OAuth2Error/missingOrInvalidRedirectURI(_:)`` for a redirect address that nobody here can listen at; ``NetworkError``;
    ///   ``ConfigError``.
    @discardableResult
    public func login() async throws -> FRUser {
        // At once, so that who sees it under way can cancel it.
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

    /// The same with a completion, called once.
    public func login(completion: @escaping @Sendable (_ user: FRUser?, _ error: (any Error)?) -> Void) {
        Task {
            do { completion(try await login(), nil) } catch { completion(nil, error) }
        }
    }

    /// Gives the login up: it ends with ``BrowserError/externalUserAgentCancelled``. It is no error when it is not under way.
    public func cancel() { attempt.withLock { $0.task }?.cancel() }

    /// Hands the login that is under way the address that the system has started the app with.
    /// - Returns: whether it is that login's answer; what it says is found out by the login. An address that is not is left alone: it
    ///   may be somebody else's.
    @discardableResult
    public static func validateBrowserLogin(url: String) -> Bool {
        guard let browser = currentBrowser, let ours = browser.process.started?.options.oauthRedirectUri,
            AuthorizationResponse.isAnswer(url, to: ours)
        else { return false }
        let query = url.prefix { $0 != "#" }.drop { $0 != "?" }.dropFirst()
        return browser.attempt.withLock { $0.receiver }?.leave(String(query)) ?? false
    }

    /// The same for an address that is a `URL` already, as the original takes it.
    @discardableResult
    public static func validateBrowserLogin(url: URL) -> Bool { validateBrowserLogin(url: url.absoluteString) }

    private func logIn() async throws -> FRUser {
        // Given up before it began: no browser opens.
        guard !Task.isCancelled else { throw BrowserError.externalUserAgentCancelled }
        guard type == .nativeBrowserApp else {
            throw BrowserError.externalUserAgentFailure(
                "there is no \(type) here: use the person's own browser, nativeBrowserApp")
        }
        guard let started = process.started else { throw ConfigError.invalidSDKState }
        if let missing = started.options.missingClient { throw missing }
        let kept = try await started.session.current()
        // One that has ended may be what the person is to be asked for: the server gives no other without.
        guard kept.ownToken?.isExpired(at: process.settings.clock.now) ?? true else {
            throw AuthError.userAlreadyAuthenticated(true)
        }
        let tokens = try tokens(of: started.session.client)
        let open = process.settings.openBrowser
        let receiver = Self.isAppsOwn(started.options.oauthRedirectUri) ? RedirectReceiver() : nil
        attempt.withLock { $0.receiver = receiver }
        do {
            _ = try await started.session.run { _ in
                try await BrowserLogin(tokens) { address in
                    do {
                        try await open(address)
                    } catch {
                        // Once there is an answer, nobody waits for the opener any more.
                        if !Task.isCancelled { self.attempt.withLock { $0.unopened = "\(error)" } }
                        throw error
                    }
                }.logIn(returningTo: receiver)
            }
        } catch {
            if !Task.isCancelled, let reason = attempt.withLock({ $0.unopened }) {
                throw BrowserError.externalUserAgentFailure(reason)
            }
            throw error as? AuthError == .authenticationCancelled ? BrowserError.externalUserAgentCancelled : error
        }
        return FRUser(process)
    }

    /// Whether nobody can listen at a redirect address because the system starts the app for it.
    private static func isAppsOwn(_ redirectURI: String?) -> Bool {
        guard let scheme = redirectURI?.prefix(while: { $0 != ":" }).lowercased() else { return false }
        return scheme != "http" && scheme != "https"
    }

    /// The app's tokens, or where there are parameters of this login's own, others over the same store.
    private func tokens(of client: IdentityClient) throws -> TokenSource {
        guard !parameters.isEmpty, let known = client.profile.client else { return client.tokens }
        var profile = client.profile
        profile.client = OAuthClient(
            clientID: known.clientID, redirectURI: known.redirectURI, scopes: known.scopes,
            signOutRedirectURI: known.signOutRedirectURI,
            authorizationParameters: known.authorizationParameters.merging(parameters) { $1 })
        return try process.client(profile, client.tokens.store).tokens
    }
}
