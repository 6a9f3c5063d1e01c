import ArgumentParser
import Foundation
import SignetCore
import SignetJourney
import SignetNetwork
import SignetOAuth
import SignetStorage

/// The options that select one of several logins.
struct ProfileOptions: ParsableArguments {
    @Option(
        name: .customLong("profile"),
        help: ArgumentHelp(
            "The login: its profile's name, or the server's address. Not needed when there is one, or a default.",
            valueName: "name"), completion: .profiles)
    var name: String?

    @OptionGroup var options: VaultOptions

    /// Opens the vault and returns it with the selected login.
    func open() throws -> (session: Session, profile: LoginProfile) {
        let session = try Session.open(options)
        return (session, try ProfileStore.read(from: session.vault).profile(name))
    }
}

extension LoginProfile {
    private var account: String { "signet/login/\(name)" }

    /// Returns the client for the session and the tokens of this login.
    /// - Parameters:
    ///   - session: The vault.
    ///   - transport: The transport that sends the requests.
    ///   - requiresSecret: Pass false when a client whose secret isn't available may send its requests without authentication.
    ///     Otherwise those requests fail, and other operations, such as reading a stored token, need no secret.
    /// - Returns: The client.
    /// - Throws: `ProfileError`, `StoreError`.
    func client(
        _ session: Session, _ transport: any HTTPTransport, requiresSecret: Bool = true
    ) throws -> IdentityClient {
        let vault = session.vault
        var server = try server(requiresSecret: false)
        var interceptors: [any RequestInterceptor] = []
        if requiresSecret {
            do throws(ProfileError) {
                _ = try availableSecret()
            } catch {
                interceptors.append(MissingClientSecret(reason: error.description))
            }
        }
        if server.preferredLanguages.isEmpty {
            server.preferredLanguages = PreferredLanguages.tags(environment: ProcessInfo.processInfo.environment)
        }
        return try IdentityClient(
            server, account: account, keychain: VaultProvider { () throws(StoreError) in vault }, transport: transport,
            interceptors: interceptors)
    }

    /// Runs `body` with the session and the tokens of this login.
    ///
    /// A signal cancels it.
    /// - Parameters:
    ///   - session: The vault.
    ///   - requiresSecret: Pass false for a logout, which also deletes the login here when the client's secret isn't available.
    ///   - body: The function that uses the client.
    /// - Returns: The result of `body`.
    /// - Throws: The error of `body`. If the user has to log in again, a ``Failure`` that names the command for it. `ProfileError` if
    ///   a request needs the client's secret and it isn't available.
    func use<R: Sendable>(
        _ session: Session, requiresSecret: Bool = true, _ body: @escaping @Sendable (IdentityClient) async throws -> R
    ) async throws -> R {
        do {
            return try await Interrupt.ending {
                try await connected(session) { transport in
                    try await body(client(session, transport, requiresSecret: requiresSecret))
                }
            }
        } catch let error as TokenError where error.code == .notConfigured && requiresSecret {
            _ = try availableSecret()
            throw error
        } catch let error as TokenError where error.code == .loginRequired {
            let reason =
                switch error.cause {
                case .idToken(let cause): " (\(cause))"
                case .other(let cause): " (\(cause))"
                default: ""
                }
            throw loginRequired("the login at \(url) has ended\(reason)")
        } catch let error as TokenError where error.code == .interactionRequired {
            throw interactionRequired("the session at \(url) is valid, but there is no token", error)
        }
    }

    /// Runs `body` with a transport that trusts the authorities of this login.
    private func connected<R: Sendable>(
        _ session: Session, _ body: (AsyncHTTPTransport) async throws -> R
    ) async throws -> R {
        let authorities = AsyncHTTPTransport.Authorities(
            file: try session.authorityFile ?? authorityFile ?? TrustOptions.environmentFile())
        return try await AsyncHTTPTransport(authorities: authorities).use { transport in try await body(transport) }
    }

    /// The kind of the server at the address of a profile, as its discovery document shows it.
    enum ServerKind {
        /// An AM, or a server whose answer does not exclude that.
        case accessManager
        /// Another OpenID provider, whose issuer is the address.
        case provider
        /// No discovery document belongs to the address: neither that of an AM nor that of another provider.
        case unknown
    }

    /// Returns true if the address isn't that of an AM and has the discovery document of an OpenID provider.
    /// - Throws: The errors of ``serverKind(_:)``.
    func leadsToProvider(_ session: Session) async throws -> Bool { try await serverKind(session) == .provider }

    /// Returns the kind of the server.
    ///
    /// The front end of a provider may answer a request for the discovery document of an AM with any page, a redirect or a status
    /// such as 404. The failure of an AM, or the document of another issuer, is not such an answer.
    /// - Throws: `ProfileError` when the document is that of another issuer, so that the address must be another one;
    ///   `TransportError`.
    func serverKind(_ session: Session) async throws -> ServerKind {
        try await connected(session) { transport in
            let server = try server(requiresSecret: false)
            do {
                _ = try await server.discovering(over: transport)
                return .accessManager
            } catch let error as ProfileError {
                if error.fault.code == .issuer || error.isOfFailingServer { return .accessManager }
            }
            do {
                _ = try await ServerProfile.discovered(
                    ofAnyProviderAt: Self.discoveryAddress(of: server.url.url), over: transport, policy: server.policy
                ) { ($0.pins, $0.timeout) = (server.pins, server.timeout) }
                return .provider
            } catch let error as ProfileError {
                if error.fault.code == .issuer { throw error }
                return error.isOfFailingServer ? .accessManager : .unknown
            }
        }
    }

    /// Returns the error for a request of the server that only the user can answer, with the command for it.
    ///
    /// A journey cannot answer it.
    func interactionRequired(_ reason: String, _ error: TokenError) -> Failure {
        let failure = Failure(error)
        return Failure(
            failure.exit, failure.code,
            "\(reason): the server first requires a login in the browser (\(failure.message)): "
                + "signet login --profile \(name) --browser"
        )
    }

    /// Returns the error for a login that has ended, with the command to log in again.
    func loginRequired(_ reason: String) -> Failure {
        Failure(.notAllowed, "token.loginRequired", "\(reason); log in again: \(loginCommand)")
    }

    /// Returns the error for a token that can't be renewed and has not expired.
    func notRenewable(until end: Date?) -> Failure {
        let time = end.map { "until \($0.text)" } ?? "until the server ends it"
        return Failure(
            .notAllowed, "token.notRenewable",
            "the token for \(url) cannot be renewed; it is valid \(time), and 'signet token' prints it; for a new one, log in again: "
                + loginCommand)
    }

    /// The error for a journey at an OpenID provider.
    var noJourney: Failure {
        Failure(
            .usage, "login.noJourney",
            "\(url) is an OpenID provider without journeys: log in with --browser or --device, and --client ID")
    }

    private var loginCommand: String { "signet login --profile \(name)" + (isProvider ? " --browser" : "") }
}

/// An interceptor that cancels the requests with the authentication of the client, whose secret isn't available.
private struct MissingClientSecret: RequestInterceptor {
    let reason: String

    private static let actions: [RequestAction] = [
        .exchangeToken, .refreshToken, .revokeToken, .deviceAuthorization, .pushedAuthorization, .backchannelAuthentication,
    ]

    func intercept(_ request: HTTPRequest, for action: RequestAction) async throws -> HTTPRequest {
        // This error shows that the refresh token was not sent.
        guard !Self.actions.contains(action) else { throw OAuthError(.notConfigured, explanation: reason) }
        return request
    }
}

extension ProfileError {
    /// True when the server failed, so that its answer does not show what it is.
    fileprivate var isOfFailingServer: Bool { (fault.refusal?.status ?? 0) >= 500 }
}
