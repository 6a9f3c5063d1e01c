import SignetCore

/// A node that asks a bound device to sign a challenge.
///
/// If the journey has no user yet, the signed token identifies the user.
struct DeviceSigningVerifierNode: Node {
    static let type = NodeType(
        "DeviceSigningVerifierNode", "Device Signing Verifier",
        "Asks a bound device to sign a challenge. If the journey has no user yet, the device identifies the user."
    ) { decoder in
        Self(
            timeout: decoder.integer("timeout", 60, in: 1...86_400), prompt: decoder.devicePrompt(),
            applications: decoder.optionalStrings("applicationIds", default: "any app") ?? [],
            clientErrors: decoder.clientErrors(.ofSigning))
    }

    /// The timeout in seconds.
    var timeout = 60
    var prompt = DevicePrompt()
    /// The identifiers of the apps that may sign; empty to permit all apps.
    var applications: [String] = []
    var clientErrors = ClientErrors.ofSigning

    var outcomes: [NodeOutcome] { [.success, .failure, .noDeviceRegistered, .keyNotFound] + clientErrors.outcomes }
    var interaction: Interaction { .ownPage }

    func process(_ answers: Answers?, _ journey: inout JourneyState, _ tx: inout ServerTransaction) throws -> NodeResult {
        if let user = journey.user, try tx.devices.others(.binding, of: user).isEmpty { return .transition(.noDeviceRegistered) }
        guard let answers, case .challenged(let challenge) = journey.memory else {
            let challenge = RandomID.bytes(32)
            journey.memory = .challenged(challenge)
            return .prompt(Page(callbacks: [callback(journey.user, challenge, tx)]))
        }
        let error = answers.text(0, "clientError")
        guard error.isEmpty else { return .transition(clientErrors.outcome(error)) }
        guard let token = DeviceSignedToken(answers.text(0, "jws")),
            let user = journey.user ?? UserKey(universalID: token.claims["sub"]?.string ?? "", realm: journey.realm)
        else { return .transition(.failure) }
        let known = try tx.devices.others(.binding, of: user)
        guard !known.isEmpty else { return .transition(.noDeviceRegistered) }
        guard var device = known.first(where: { $0.boundKeyID == token.header["kid"]?.string }) else {
            return .transition(.keyNotFound)
        }
        guard let key = device.key, token.isSigned(with: key), token.isIssued(by: applications),
            token.answers(challenge, userID: user.universalID, at: tx.now)
        else { return .transition(.failure) }
        device.lastUsedAt = tx.now
        try tx.devices.save(device, for: user)
        journey.username = user.name
        return .transition(.success)
    }

    private func callback(_ user: UserKey?, _ challenge: [UInt8], _ tx: ServerTransaction) -> JourneyCallback {
        .any(
            "DeviceSigningVerifierCallback",
            [
                "userId": .string(user?.universalID ?? ""), "challenge": .string(Base64.encode(challenge, as: .standard)),
                "title": .string(tx.text(prompt.title)), "subtitle": .string(tx.text(prompt.subtitle)),
                "description": .string(tx.text(prompt.description)), "timeout": .integer(Int64(timeout)),
            ], ["jws": .string(""), "clientError": .string("")])
    }
}

extension UserKey {
    /// Parses the distinguished name of a user; nil unless it names a user of the realm.
    fileprivate init?(universalID: String, realm: RealmPath) {
        guard universalID.hasPrefix("id="), let end = universalID.firstRange(of: ",ou=user,")?.lowerBound else { return nil }
        self.init(realm: realm, name: String(universalID[..<end].dropFirst("id=".count)))
        guard self.universalID == universalID else { return nil }
    }
}
