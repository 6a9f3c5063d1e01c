import SignetCore

/// A node that asks an authenticator to create a credential.
///
/// It does not verify the attestation statement.
struct WebAuthnRegistrationNode: Node {
    static let type = NodeType(
        "WebAuthnRegistrationNode", "WebAuthn Registration Node",
        "Asks an authenticator to create a passkey. It does not verify the attestation statement. With `requiresResidentKey` the authenticator can find the passkey without the user's name. It has the outcome `exceedDeviceLimit` if it has `maxSavedDevices`. With postponed storage, the storage node generates the recovery codes and enforces the limit."
    ) { decoder in
        Self(
            style: decoder.webAuthnStyle(withName: true), algorithms: decoder.signingAlgorithms(),
            generatesRecoveryCodes: decoder.bool("generateRecoveryCodes", true),
            postponesStorage: decoder.bool("postponeDeviceProfileStorage", false), maxDevices: decoder.maxDevices())
    }

    var style = WebAuthnStyle()
    /// The algorithms of the keys that are accepted, in the order of preference.
    var algorithms = WebAuthnAlgorithm.offered
    var generatesRecoveryCodes = true
    /// True when another node saves the device, generates its recovery codes and enforces the limit.
    var postponesStorage = false
    /// The maximum number of credentials of a user; 0 for no limit, where the oldest is replaced when there are too many
    /// (``DeviceRegistry/maxPerKind``).
    var maxDevices = 0

    var outcomes: [NodeOutcome] {
        [.unsupported, .success, .failure, .error] + (maxDevices > 0 && !postponesStorage ? [.exceedDeviceLimit] : [])
    }
    var interaction: Interaction { .ownPage }

    func process(_ answers: Answers?, _ journey: inout JourneyState, _ tx: inout ServerTransaction) throws -> NodeResult {
        guard let user = journey.user, try tx.directory.contains(user) else { return .transition(.failure) }
        let known = try tx.devices.others(.webauthn, of: user).compactMap(\.credentialID)
        let party = style.party(tx.time)
        guard let answers, case .challenged(let challenge) = journey.memory else {
            guard maxDevices == 0 || postponesStorage || known.count < maxDevices else {
                return .transition(.exceedDeviceLimit)
            }
            let challenge = RandomID.bytes(32)
            journey.memory = .challenged(challenge)
            return .prompt(
                WebAuthnStep(challenge: challenge, party: party, style: style, known: known)
                    .registration(of: user, algorithms))
        }
        do {
            let answer = try WebAuthnAnswer(answers.text(1))
            guard let credential = answer.newCredential(challenge, party, requiresVerification: style.requiresVerification),
                !known.contains(credential.id), algorithms.contains(where: { $0.rawValue == credential.key.algorithm })
            else {
                tx.explain("the answer has no new passkey for this challenge, this site and these algorithms")
                return .transition(.failure)
            }
            let device = credential.device(at: tx.now)
            if postponesStorage {
                journey.pendingCredential = device
            } else {
                try tx.save(device, of: user, withCodes: generatesRecoveryCodes, &journey)
            }
            return .transition(.success)
        } catch let failure as WebAuthnAnswer.Failure {
            tx.explain("the browser reported: \(failure.outcome.rawValue)")
            return .transition(failure.outcome)
        }
    }
}
