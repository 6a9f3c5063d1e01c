import ArgumentParser
import SignetCore
import SignetJourney
import SignetNetwork
import SignetStorage

/// Which of several logins is meant.
struct ProfileOptions: ParsableArguments {
    @Option(
        name: .customLong("profile"),
        help: ArgumentHelp(
            "The login: its profile's name, or the server's address. Not needed when there is one, or a default.",
            valueName: "name"))
    var name: String?

    @OptionGroup var options: VaultOptions

    /// The vault, and the login that is meant.
    func open() throws -> (session: Session, profile: LoginProfile) {
        let session = try Session.open(options)
        return (session, try ProfileStore.read(from: session.vault).profile(name))
    }
}

extension LoginProfile {
    private var account: String { "signet/login/\(name)" }

    /// The session and the tokens of this login, over a transport.
    func client(_ session: Session, _ transport: any HTTPTransport) throws -> IdentityClient {
        let vault = session.vault
        return try IdentityClient(
            server(), account: account, keychain: Keychain { () throws(StoreError) in vault }, transport: transport)
    }

    /// Runs `body` with the session and the tokens of this login. A signal cancels it.
    /// - Throws: What `body` throws; that a person has to log in is said with the command for it.
    func use<R: Sendable>(
        _ session: Session, _ body: @escaping @Sendable (IdentityClient) async throws -> R
    ) async throws -> R {
        do {
            return try await Interrupt.ending {
                let authorities = AsyncHTTPTransport.Authorities(
                    file: try session.authorityFile ?? authorityFile ?? TrustOptions.environmentFile())
                return try await AsyncHTTPTransport(authorities: authorities).use { transport in
                    try await body(client(session, transport))
                }
            }
        } catch let error as TokenError where error.code == .loginRequired {
            throw loginRequired("the login at \(url) has ended")
        } catch let error as TokenError where error.code == .interactionRequired {
            throw interactionRequired("the login at \(url) lives, but there is no token", error)
        }
    }

    /// That the server wants something of the person that a journey has not, and how to be asked for it.
    func interactionRequired(_ reason: String, _ error: TokenError) -> Failure {
        let failure = Failure(error)
        return Failure(
            failure.exit, failure.code,
            "\(reason): the server wants something of you first (\(failure.message)): signet login --profile \(name) --browser")
    }

    /// That a person has to log in, and how.
    func loginRequired(_ reason: String) -> Failure {
        Failure(.notAllowed, "token.loginRequired", "\(reason); log in again: signet login --profile \(name)")
    }
}
