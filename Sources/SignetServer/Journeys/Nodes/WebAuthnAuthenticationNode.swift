import SignetCore

/// A node that asks an authenticator to sign with one of the user's credentials.
///
/// With ``requiresResidentKey`` the journey needs no user: the request names no credentials, and the passkey identifies the user.
struct WebAuthnAuthenticationNode: Node {
    static let type = NodeType(
        "WebAuthnAuthenticationNode", "WebAuthn Authentication Node",
        "Asks an authenticator to sign with one of the user's passkeys. With `requiresResidentKey` the passkey itself identifies the user, and `mediation: CONDITIONAL` offers it in the browser's autofill. It has the outcome `recoveryCode` if `isRecoveryCodeAllowed`."
    ) { decoder in
        Self(
            style: decoder.webAuthnStyle(withName: false), allowsRecoveryCode: decoder.bool("isRecoveryCodeAllowed", false),
            mediation: decoder.optionalChoice(
                "mediation", ["OPTIONAL": "optional", "REQUIRED": "required", "CONDITIONAL": "conditional"],
                default: "the browser's"))
    }

    var style = WebAuthnStyle()
    var allowsRecoveryCode = false
    /// The mediation requirement of the browser's Credential Management API, such as `conditional`; nil for the browser's default.
    var mediation: String?

    private var requiresResidentKey: Bool { style.requiresResidentKey }

    var outcomes: [NodeOutcome] {
        [.unsupported, .noDevice, .success, .failure, .error] + (allowsRecoveryCode ? [.recoveryCode] : [])
    }
    var interaction: Interaction { .ownPage }

    func process(_ answers: Answers?, _ journey: inout JourneyState, _ tx: inout ServerTransaction) throws -> NodeResult {
        guard journey.user != nil || requiresResidentKey else {
            tx.explain("the journey has no user, and requiresResidentKey is off")
            return .transition(.failure)
        }
        let known = try journey.user.map { try tx.devices.others(.webauthn, of: $0) }
        guard known?.isEmpty != true else { return .transition(.noDevice) }
        let party = style.party(tx.time)
        guard let answers, case .challenged(let challenge) = journey.memory else {
            let challenge = RandomID.bytes(32)
            journey.memory = .challenged(challenge)
            let ids = requiresResidentKey ? [] : known?.compactMap(\.credentialID) ?? []
            var page = WebAuthnStep(challenge: challenge, party: party, style: style, known: ids)
                .authentication(mediation: mediation)
            if allowsRecoveryCode { page.callbacks.append(.confirmation(["Use Recovery Code"], default: 0)) }
            return .prompt(page)
        }
        if allowsRecoveryCode, answers.number(2) == 0 { return .transition(.recoveryCode) }
        do {
            let answer = try WebAuthnAnswer(answers.text(1))
            let named = try answer.user(in: journey.realm) { try tx.devices.others(.webauthn, of: $0) }
            guard let user = journey.user ?? named,
                var device = answer.signer(
                    among: try tx.devices.others(.webauthn, of: user), challenge, party,
                    requiresVerification: style.requiresVerification)
            else {
                tx.explain("no passkey of the user has signed this challenge for this site")
                return .transition(.failure)
            }
            device.lastUsedAt = tx.now
            try tx.devices.save(device, for: user)
            journey.username = user.name
            return .transition(.success)
        } catch let failure as WebAuthnAnswer.Failure {
            tx.explain("the browser reported: \(failure.outcome.rawValue)")
            return .transition(failure.outcome)
        }
    }
}
