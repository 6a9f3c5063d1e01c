import SignetCore

/// A node that asks an authenticator to sign with one of the user's credentials.
struct WebAuthnAuthenticationNode: Node {
    static let type = NodeType(
        "WebAuthnAuthenticationNode", "WebAuthn Authentication Node",
        "Asks an authenticator to sign with one of the user's passkeys. It has the outcome `recoveryCode` if `isRecoveryCodeAllowed`."
    ) { decoder in
        Self(
            style: decoder.webAuthnStyle(withName: false), allowsRecoveryCode: decoder.bool("isRecoveryCodeAllowed", false))
    }

    var style = WebAuthnStyle()
    var allowsRecoveryCode = false

    var outcomes: [NodeOutcome] {
        [.unsupported, .noDevice, .success, .failure, .error] + (allowsRecoveryCode ? [.recoveryCode] : [])
    }
    var interaction: Interaction { .ownPage }

    func process(_ answers: Answers?, _ journey: inout JourneyState, _ tx: inout ServerTransaction) throws -> NodeResult {
        guard let user = journey.user else { return .transition(.failure) }
        let known = try tx.devices.others(.webauthn, of: user)
        guard !known.isEmpty else { return .transition(.noDevice) }
        let party = style.party(tx.time)
        guard let answers, case .challenged(let challenge) = journey.memory else {
            let challenge = RandomID.bytes(32)
            journey.memory = .challenged(challenge)
            let ids = known.compactMap(\.credentialID)
            var page = WebAuthnStep(challenge: challenge, party: party, style: style, known: ids).authentication()
            if allowsRecoveryCode { page.callbacks.append(.confirmation(["Use Recovery Code"], default: 0)) }
            return .prompt(page)
        }
        if allowsRecoveryCode, answers.number(2) == 0 { return .transition(.recoveryCode) }
        do {
            let answer = try WebAuthnAnswer(answers.text(1))
            guard
                var device = answer.signer(among: known, challenge, party, requiresVerification: style.requiresVerification)
            else { return .transition(.failure) }
            device.lastUsedAt = tx.now
            try tx.devices.save(device, for: user)
            return .transition(.success)
        } catch let failure as WebAuthnAnswer.Failure {
            return .transition(failure.outcome)
        }
    }
}
