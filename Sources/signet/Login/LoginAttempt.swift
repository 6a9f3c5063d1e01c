import SignetCore
import SignetJourney
import SignetNetwork
import SignetOAuth

/// One run of `signet login`.
///
/// If a first login of a client fails, it stores neither a session nor tokens.
struct LoginAttempt {
    private let arguments: Login
    private let plan: LoginPlan
    private let session: Session
    private let client: IdentityClient
    /// The client for the journey, which revokes the tokens of the earlier login with the authentication that the server accepted for
    /// them.
    private let journeyClient: IdentityClient

    /// The result of a login.
    struct Outcome: Sendable {
        /// True when there is a session of a journey.
        var hasSession = false
        var token: AccessToken?
        /// The user's name at the server; nil when the server didn't send it.
        var subject: String?
        /// The reason for a session without a token, where a later attempt may succeed, or for an enrollment that found nothing.
        var failure: Failure?

        /// True when there is a session or a token to store.
        var isKept: Bool { hasSession || token != nil }
    }

    init(_ arguments: Login, _ plan: LoginPlan, _ session: Session, _ client: IdentityClient) {
        self.arguments = arguments
        self.plan = plan
        self.session = session
        self.client = client
        let known = plan.changesAuthentication ? plan.knownAuthentication : nil
        journeyClient = known.flatMap { try? client.authenticating(by: $0) } ?? client
    }

    /// The report about the session and the tokens that this login replaced; nil when it replaced none.
    var replaced: LogOutReport? { journeyClient.tokens.replaced ?? client.tokens.replaced }

    func run() async throws -> Outcome {
        do {
            return try await outcome()
        } catch {
            // The journey may have replaced the earlier login, which then goes on at the server.
            if let former = replaced?.failure("the earlier login was replaced on this machine") {
                Console.error("signet: \(former.message)")
            }
            // A cancellation must also leave nothing behind.
            if leavesNothing {
                let report = await Task { [client] in await client.logOut() }.value
                if let failure = report.failure("no session or token of this login was stored") {
                    Console.error("signet: \(failure.message)")
                }
                for remark in report.remarks { Console.error("This login, \(remark)") }
            }
            // Converts the error here, because `LoginProfile.use` would report it as the end of an existing login.
            guard let tokenError = error as? TokenError else { throw error }
            let isUnknown = await isOfUnknownServer(tokenError)
            throw isUnknown ? Failure(tokenError).advising(Self.serverAdvice) : Failure(tokenError)
        }
    }

    /// True when the profile had no earlier login of this client.
    ///
    /// A login that fails then leaves nothing behind, here or at the server.
    private var leavesNothing: Bool { plan.known == nil || plan.replacesClient }

    private func outcome() async throws -> Outcome {
        var outcome = Outcome()
        if arguments.browser {
            outcome.token = try await inBrowser()
        } else if arguments.device {
            outcome.token = try await onAnotherDevice()
        } else {
            (outcome.hasSession, outcome.failure) = try await runLogin()
            guard outcome.hasSession, client.profile.client != nil else { return outcome }
            do throws(TokenError) {
                outcome.token = try await tokens()
            } catch {
                // The token's error takes the place of the one about the enrollment, so this line reports that one.
                if let failure = outcome.failure { Console.error("signet: \(failure.message)") }
                // The new secret may be wrong, so the settings of the earlier login stay too.
                guard !plan.changesAuthentication else { throw try await withoutToken(error) }
                // After a long journey, neither a network error at its end nor a page that needs a browser requires a second run.
                let reason = "logged in, but there is no token yet"
                if error.code == .interactionRequired {
                    outcome.failure = plan.profile.interactionRequired(reason, error)
                } else {
                    guard error.isRetryable else { throw try await withoutToken(error) }
                    let failure = Failure(error)
                    outcome.failure = Failure(failure.exit, failure.code, "\(reason): \(failure.message)")
                }
            }
        }
        outcome.subject = try await client.reader.identity()?["sub"]?.string
        return outcome
    }

    /// Returns tokens for the session of the journey.
    ///
    /// Those of the earlier login are revoked when the client has other settings. With another secret that happens only after the
    /// server has accepted it.
    private func tokens() async throws(TokenError) -> AccessToken {
        if plan.changesAuthentication { return try await client.tokens.replaceTokens() }
        if plan.changesClient {
            let former = try await client.tokens.revoke()
            if case .notOffered = former { Console.error("The earlier tokens at the server: \(former.text)") }
        }
        return try await client.tokens.token()
    }

    /// Returns the error for a journey that succeeded although the client got no token.
    private func withoutToken(_ error: TokenError) async throws(TokenError) -> Failure {
        let failure = Failure(error)
        let session = try await client.reader.session()
        var kept = leavesNothing || session == nil ? "nothing was kept" : "only the session was kept"
        if plan.changesAuthentication, try await client.reader.storedToken() != nil { kept = "the earlier login was kept" }
        let secret = plan.profile.usesClientSecret ? " --client-secret-file," : ""
        let advice = error.code == .notConfigured ? "" : "; check --client,\(secret) --redirect and --scope"
        return Failure(
            failure.exit, failure.code, "the journey succeeded, but there is no token, and \(kept): \(failure.message)\(advice)")
    }

    /// Runs the journey.
    ///
    /// Returns true if it ends with a session, and the error of a login that was to enroll an account and found none.
    private func runLogin() async throws -> (hasSession: Bool, failure: Failure?) {
        var options = JourneyOptions()
        options.forceAuthentication = arguments.force
        var login = TerminalLogin(
            journeyClient.journeys, arguments.index, savedProfile: profileOfJourney, options: options, session: session,
            passkeys: arguments.passkeys, prompts: PromptSession(arguments.answer, json: arguments.json),
            enrollment: enrollmentOffer,
            timeout: timeout ?? .seconds(600))
        let state: JourneyState
        do {
            state = try await login.run(isResumed: arguments.resume)
        } catch let error where Self.isPerhapsOfProvider(error) {
            switch try await serverKind() {
            case .provider: throw plan.profile.noJourney
            case .unknown: throw Failure(error).advising(Self.serverAdvice)
            case .accessManager: throw error
            }
        }
        let unused = login.unusedAnswers.joined(separator: ", ")
        if !unused.isEmpty { Console.error("The server did not ask for: \(unused)") }
        if case .loggedIn = state { return (true, login.enrollmentFailure) }
        return (false, login.enrollmentFailure)
    }

    /// The name of the saved profile, if the journey to start is the one that it names; nil when an argument or a default names it.
    private var profileOfJourney: String? {
        let setting = "authenticationService"
        guard arguments.journey == nil, let known = plan.known, let journey = known.settings[setting]?.string,
            plan.profile.settings[setting]?.string == journey
        else { return nil }
        return known.name
    }

    private var enrollmentOffer: EnrollmentOffer {
        EnrollmentOffer(
            session, policy: client.journeys.profile.policy, enrolls: arguments.enroll, conflict: arguments.conflict,
            isConfirmed: arguments.yes)
    }

    /// True when the answer to a request of the journey may be that of an OpenID provider.
    ///
    /// A provider has no address for journeys. The front end of one may also answer with another status, or with a page or a
    /// redirect to one.
    private static func isPerhapsOfProvider(_ error: any Error) -> Bool {
        if let failure = error as? Failure {
            // Without a part it is the error of a start that was refused with 403.
            return failure.code == "journey.refused" && (failure.part == nil || failure.part == "url")
        }
        guard let error = error as? JourneyError else { return false }
        switch error.code {
        case .serverMisbehaved: return true
        case .loginFailed, .policyFailed: return false
        default: return error.status.map { [403, 404, 405, 501].contains($0) } ?? false
        }
    }

    /// Returns the kind of the server, and the usual one for an address that cannot be reached.
    private func serverKind() async throws -> LoginProfile.ServerKind {
        do {
            return try await plan.profile.serverKind(session)
        } catch is TransportError {
            return .accessManager
        }
    }

    /// True when a login in a browser or on another device failed at a server that is neither an AM nor a known provider.
    private func isOfUnknownServer(_ error: TokenError) async -> Bool {
        guard arguments.browser || arguments.device, plan.known == nil, !plan.profile.isProvider,
            case .server(let refusal) = error.cause, [.unreadable, .other].contains(refusal.code)
        else { return false }
        return (try? await serverKind()) == .unknown
    }

    /// The end of the message for an address without a discovery document.
    private static let serverAdvice =
        "; there is no discovery document for this address: for an AM use its address up to the deployment path, such as /am, "
        + "and for another OpenID provider 'signet login --issuer URL --client ID --browser'"

    private func inBrowser() async throws -> AccessToken {
        let timeout = timeout ?? .seconds(300)
        do throws(TokenError) {
            return try await BrowserLogin(client.tokens, timeout: timeout) { address in
                await TerminalLogin.openBrowser(address, within: timeout)
            }.logIn()
        } catch {
            guard error.code == .cancelled, error.cause != nil else { throw error }
            let failure = Failure(error)
            throw Failure(
                failure.exit, failure.code,
                "\(failure.message); --redirect sets the address here, and --timeout the seconds to wait")
        }
    }

    private var timeout: Duration? { arguments.seconds.map { .seconds($0) } }

    private func onAnotherDevice() async throws -> AccessToken {
        let login = client.deviceLogin()
        let invitation = try await login.begin()
        if let address = invitation.completeURI { _ = StepPrinter.draw(address) }
        Console.error("Open \(invitation.verificationURI) on another device and enter the code \(invitation.userCode)")
        return try await login.finish(invitation)
    }
}
