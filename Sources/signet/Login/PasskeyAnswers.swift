import SignetCore
import SignetJourney
import SignetOAuth
import SignetStorage

/// The answers of the vault's passkeys, or of a security key, to the requests of a journey.
struct PasskeyAnswers {
    /// The place of the passkeys.
    enum Place: Sendable {
        case vault, securityKey
    }

    private let session: Session
    private let place: Place
    private let origin: WebAuthnOrigin

    init(_ session: Session, in place: Place, for profile: ServerProfile) {
        self.session = session
        self.place = place
        origin = WebAuthnOrigin(profile.url)
    }

    /// Answers the request of a step, after asking the user.
    ///
    /// Without a terminal, the answer `passkey` allows the use of the vault's passkeys. Without that answer, the server is told that
    /// the device has none. The user of a security key allows its use by touching it.
    /// - Parameters:
    ///   - step: The step, which contains a request.
    ///   - prompts: The source of answers.
    /// - Returns: The ID of the passkey that was created in the vault; nil when none was.
    /// - Throws: ``Failure`` for an answer that is missing or invalid; `CancellationError` when the input ends.
    func answer(_ step: inout JourneyStep, _ prompts: inout PromptSession) async throws -> [UInt8]? {
        guard place == .securityKey || prompts.hasUser || prompts.hasAnswer(PasskeyDialog.question("")) else {
            prompts.report(
                "The server asks for a passkey, and there is no terminal to ask at: --answer passkey=yes allows its use. The server is"
                    + " told that there is none.")
            try await step.answerWebAuthn(with: nil)
            return nil
        }
        let dialog = PasskeyDialog(prompts)
        let verification = await UserVerificationChoice(vault: session.vault).presence(for: WebAuthnRequest(step))
        let passkeys = ReportedPasskeys(passkeys: authenticator(dialog, verification))
        let outcome = await Result(of: { [step] in
            var step = step
            let outcome = try await step.answerWebAuthn(with: passkeys, deviceName: Session.hostName)
            return (step, outcome)
        })
        prompts = await dialog.prompts
        if let failure = passkeys.failure { throw failure }
        let (answered, result) = try outcome.get()
        step = answered
        switch result {
        case .attestation(let made, _):
            guard place == .vault else { break }
            prompts.report("The passkey is in the vault.")
            return made.credentialID
        case .assertion, .unsupported: break
        case .failure(let error):
            // The user has to act on an error of the vault, which the server doesn't know.
            if let cause = passkeys.cause {
                Console.error("signet: the passkeys of the vault cannot be used: \(Failure(cause).message)")
            } else {
                prompts.report("The passkey was not used: \(error.message). The server is told so.")
            }
        }
        return nil
    }

    private func authenticator(
        _ dialog: PasskeyDialog, _ verification: (any DevicePresence)?
    ) -> any WebAuthnAuthenticator {
        switch place {
        case .securityKey: SecurityKeys(origin: origin, user: dialog)
        case .vault: VaultPasskeys(session.vault, origin: origin, consent: dialog, verification: verification)
        }
    }

    /// Removes a passkey that the server has rejected.
    func discard(_ id: [UInt8]) async throws(StoreError) { _ = try await PasskeyStore(session.vault).remove(id) }
}

/// The questions about passkeys at the terminal.
private actor PasskeyDialog: PasskeyConsent {
    private(set) var prompts: PromptSession

    init(_ prompts: PromptSession) { self.prompts = prompts }

    static func question(_ prompt: String) -> Question { Question(prompt: prompt, names: ["passkey"]) }

    func allows(_ use: PasskeyUse) async throws -> Bool {
        let text =
            switch use {
            case .create(let request, let domain):
                "Create a passkey for '\(request.userName.pageLine)' at \(domain.pageLine) in this vault"
            case .reportExisting(let passkey):
                "This vault has a passkey for '\(passkey.userName.pageLine)' at \(passkey.relyingPartyID.pageLine); tell the server so"
            case .sign(let passkey):
                "Use the passkey of '\(passkey.userName.pageLine)' at \(passkey.relyingPartyID.pageLine)"
            }
        var prompts = prompts
        defer { self.prompts = prompts }
        return try await prompts.agreement(Self.question(text))
    }

    func choose(among passkeys: [Passkey]) async throws -> Passkey? {
        let question = Question(prompt: "Passkey", names: ["passkeyuser"])
        var prompts = prompts
        defer { self.prompts = prompts }
        return passkeys[try await prompts.choice(question, of: passkeys.map(\.userName))]
    }
}

// The questions about security keys.
extension PasskeyDialog: SecurityKeyUser {
    func choose(among keys: [SecurityKey]) async throws -> SecurityKey? {
        let question = Question(prompt: "Security key", names: ["securitykey"])
        var prompts = prompts
        defer { self.prompts = prompts }
        return keys[try await prompts.choice(question, of: keys.map(\.name))]
    }

    func pin(of key: SecurityKey, attempts: Int?, isAgain: Bool) async throws -> Secret? {
        if isAgain { Console.error("That is not the PIN of the security key.") }
        if let attempts { Console.error("The security key accepts \(attempts.of("wrong PIN")) before it is blocked.") }
        var prompts = prompts
        defer { self.prompts = prompts }
        return try await prompts.secret(Question(prompt: "PIN of \(key.name.pageLine)", names: ["pin"]))
    }

    func touch(_ key: SecurityKey, for relyingPartyID: String) async {
        Console.error("Touch the security key \(key.name), for \(relyingPartyID).")
    }

    func choose(among accounts: [SecurityKeyAccount]) async throws -> SecurityKeyAccount? {
        let question = Question(prompt: "Passkey", names: ["passkeyuser"])
        var prompts = prompts
        defer { self.prompts = prompts }
        let names = accounts.map { $0.userName ?? Base64.encode($0.userID, as: .url) }
        return accounts[try await prompts.choice(question, of: names)]
    }
}

/// An authenticator with the errors that are not for the server.
private final class ReportedPasskeys: WebAuthnAuthenticator {
    private let passkeys: any WebAuthnAuthenticator
    private let error = Mutex<(any Error)?>(nil)

    init(passkeys: any WebAuthnAuthenticator) { self.passkeys = passkeys }

    /// The error of an answer, which ends the command; nil for none.
    var failure: Failure? { error.withLock { $0 as? Failure } }
    /// The error of the vault; nil for none.
    var cause: StoreError? { error.withLock { $0 as? StoreError } }

    func register(_ request: WebAuthnRegistration) async throws -> WebAuthnAttestation {
        do {
            return try await passkeys.register(request)
        } catch let found {
            error.withLock { $0 = found }
            throw found
        }
    }

    func authenticate(_ request: WebAuthnAuthentication) async throws -> WebAuthnAssertion {
        do {
            return try await passkeys.authenticate(request)
        } catch let found {
            error.withLock { $0 = found }
            throw found
        }
    }
}
