import SignetCore

/// A node that asks a device to generate a key, and binds the key to the user.
struct DeviceBindingNode: Node {
    static let type = NodeType(
        "DeviceBindingNode", "Device Binding",
        "Asks a device to generate a key, and binds it to the user. It has the outcome `exceedDeviceLimit` if it has `maxSavedDevices`."
    ) { decoder in
        let types: KeyValuePairs = [
            "NONE": "NONE", "APPLICATION_PIN": "APPLICATION_PIN", "BIOMETRIC_ONLY": "BIOMETRIC_ONLY",
            "BIOMETRIC_ALLOW_FALLBACK": "BIOMETRIC_ALLOW_FALLBACK",
        ]
        return Self(
            authenticationType: decoder.choice("authenticationType", "NONE", types) ?? "NONE",
            timeout: decoder.integer("timeout", 60, in: 1...86_400), prompt: decoder.devicePrompt(),
            applications: decoder.optionalStrings("applicationIds", default: "any app") ?? [],
            postponesStorage: decoder.bool("postponeDeviceProfileStorage", false), maxDevices: decoder.maxDevices(),
            clientErrors: decoder.clientErrors(.ofBinding))
    }

    /// `BIOMETRIC_ONLY`, `BIOMETRIC_ALLOW_FALLBACK`, `APPLICATION_PIN` or `NONE`.
    var authenticationType = "NONE"
    /// The timeout in seconds.
    var timeout = 60
    var prompt = DevicePrompt()
    /// The identifiers of the apps that may bind a device; empty to permit all apps.
    var applications: [String] = []
    /// True when another node saves the device.
    var postponesStorage = false
    /// The maximum number of devices that a user can bind; 0 for no limit, where the oldest is replaced when there are too many
    /// (``DeviceRegistry/maxPerKind``).
    var maxDevices = 0
    var clientErrors = ClientErrors.ofBinding

    var outcomes: [NodeOutcome] {
        [.success, .failure] + (maxDevices > 0 ? [.exceedDeviceLimit] : []) + clientErrors.outcomes
    }
    var interaction: Interaction { .ownPage }

    func process(_ answers: Answers?, _ journey: inout JourneyState, _ tx: inout ServerTransaction) throws -> NodeResult {
        guard let user = journey.user, try tx.directory.contains(user) else { return .transition(.failure) }
        let known = try tx.devices.others(.binding, of: user)
        guard maxDevices == 0 || known.count < maxDevices else { return .transition(.exceedDeviceLimit) }
        guard let answers, case .challenged(let challenge) = journey.memory else {
            let challenge = RandomID.bytes(32)
            journey.memory = .challenged(challenge)
            return .prompt(Page(callbacks: [callback(user, challenge, tx)]))
        }
        let error = answers.text(0, "clientError")
        guard error.isEmpty else { return .transition(clientErrors.outcome(error)) }
        guard let token = DeviceSignedToken(answers.text(0, "jws")), let jwk = token.header["jwk"],
            let key = DevicePublicKey(jwk: jwk), token.isSigned(with: key),
            let keyID = token.header["kid"]?.string, !keyID.isEmpty, keyID.utf8.count <= 256,
            token.isIssued(by: applications), token.answers(challenge, userID: user.universalID, at: tx.now)
        else { return .transition(.failure) }
        // A known key is already bound to a device, so it is rejected for any client that presents it.
        guard !known.contains(where: { $0.boundKeyID == keyID || $0.key == key }) else { return .transition(.failure) }
        let name = answers.text(0, "deviceName")
        let device = OtherDevice(
            kind: .binding, resourceID: RandomID.uuid(), name: String((name.isEmpty ? "Device" : name).prefix(256)),
            registeredAt: tx.now, lastUsedAt: tx.now,
            details: [
                "deviceId": .string(String(answers.text(0, "deviceId").prefix(256))),
                "key": .object(["kid": .string(keyID), "alg": .string(key.algorithm)]),
            ], key: key)
        if postponesStorage {
            journey.pendingCredential = device
        } else {
            try tx.devices.save(device, for: user)
        }
        return .transition(.success)
    }

    private func callback(_ user: UserKey, _ challenge: [UInt8], _ tx: ServerTransaction) -> JourneyCallback {
        .any(
            "DeviceBindingCallback",
            [
                "userId": .string(user.universalID), "username": .string(user.name),
                "authenticationType": .string(authenticationType), "challenge": .string(Base64.encode(challenge, as: .standard)),
                "title": .string(tx.text(prompt.title)), "subtitle": .string(tx.text(prompt.subtitle)),
                "description": .string(tx.text(prompt.description)), "timeout": .integer(Int64(timeout)),
                "attestation": .bool(false),
            ], ["jws": .string(""), "deviceName": .string(""), "deviceId": .string(""), "clientError": .string("")])
    }
}
