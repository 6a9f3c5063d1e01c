import SignetCore

/// The client errors of a device operation. A node has an outcome for each error in ``known``; every other error leads to
/// `failure`.
struct ClientErrors: Sendable {
    var known: [String]

    static let ofBinding = ClientErrors(known: ["Unsupported", "Abort", "Timeout"])
    static let ofSigning = ClientErrors(known: ofBinding.known + ["ClientNotRegistered"])

    var outcomes: [NodeOutcome] { known.map { NodeOutcome($0) } }

    func outcome(_ text: String) -> NodeOutcome { known.contains(text) ? NodeOutcome(text) : .failure }
}

/// The text of the device's authentication prompt.
struct DevicePrompt: Sendable {
    var title = "Authentication required"
    var subtitle = "Cryptography device binding"
    var description = "Please complete with biometric to proceed"
}

/// A node that asks a device to generate a key, and binds the key to the user.
struct DeviceBindingNode: Node {
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
    /// (``DeviceRegistry/mostOfAKind``).
    var mostDevices = 0
    var clientErrors = ClientErrors.ofBinding

    var name: String { "DeviceBindingNode" }
    var outcomes: [NodeOutcome] {
        [.success, .failure] + (mostDevices > 0 ? [.exceedDeviceLimit] : []) + clientErrors.outcomes
    }
    var interaction: Interaction { .ownPage }

    func process(_ visit: NodeInput, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> NodeResult {
        guard let user = journey.user, tx.directory.contains(user) else { return .transition(.failure) }
        let known = tx.devices.others(.binding, of: user)
        guard mostDevices == 0 || known.count < mostDevices else { return .transition(.exceedDeviceLimit) }
        guard let answers = visit.answers, case .challenged(let challenge) = journey.memory else {
            let challenge = RandomID.bytes(32)
            journey.memory = .challenged(challenge)
            return .prompt(Page(callbacks: [callback(user, challenge)]))
        }
        let error = answers.text(0, "clientError")
        guard error.isEmpty else { return .transition(clientErrors.outcome(error)) }
        guard let statement = SignedStatement(answers.text(0, "jws")), let jwk = statement.header["jwk"],
            let key = DevicePublicKey(jwk: jwk), statement.isSigned(with: key),
            let keyID = statement.header["kid"]?.string, !keyID.isEmpty, keyID.utf8.count <= 256,
            statement.isIssued(by: applications), statement.answers(challenge, userID: user.universalID, at: visit.moment.now)
        else { return .transition(.failure) }
        // A known key is already bound to a device, so it is rejected for any client that presents it.
        guard !known.contains(where: { $0.boundKeyID == keyID || $0.key == key }) else { return .transition(.failure) }
        let name = answers.text(0, "deviceName")
        let device = OtherDevice(
            kind: .binding, resourceID: RandomID.uuid(), name: String((name.isEmpty ? "Device" : name).prefix(256)),
            registeredAt: visit.moment.now, lastUsedAt: visit.moment.now,
            details: [
                "deviceId": .string(String(answers.text(0, "deviceId").prefix(256))),
                "key": .object(["kid": .string(keyID), "alg": .string(key.algorithm)]),
            ], key: key)
        if postponesStorage {
            journey.pendingCredential = device
        } else {
            tx.devices.save(device, for: user)
        }
        return .transition(.success)
    }

    private func callback(_ user: UserKey, _ challenge: [UInt8]) -> JourneyCallback {
        .any(
            "DeviceBindingCallback",
            [
                "userId": .string(user.universalID), "username": .string(user.name),
                "authenticationType": .string(authenticationType), "challenge": .string(Base64.encode(challenge, as: .standard)),
                "title": .string(prompt.title), "subtitle": .string(prompt.subtitle),
                "description": .string(prompt.description), "timeout": .integer(Int64(timeout)),
                "attestation": .bool(false),
            ], ["jws": .string(""), "deviceName": .string(""), "deviceId": .string(""), "clientError": .string("")])
    }
}

/// A node that asks a bound device to sign a challenge. If the journey has no user yet, the signed statement identifies the user.
struct DeviceSigningVerifierNode: Node {
    /// The timeout in seconds.
    var timeout = 60
    var prompt = DevicePrompt()
    /// The identifiers of the apps that may sign; empty to permit all apps.
    var applications: [String] = []
    var clientErrors = ClientErrors.ofSigning

    var name: String { "DeviceSigningVerifierNode" }
    var outcomes: [NodeOutcome] { [.success, .failure, .noDeviceRegistered, .keyNotFound] + clientErrors.outcomes }
    var interaction: Interaction { .ownPage }

    func process(_ visit: NodeInput, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> NodeResult {
        if let user = journey.user, tx.devices.others(.binding, of: user).isEmpty { return .transition(.noDeviceRegistered) }
        guard let answers = visit.answers, case .challenged(let challenge) = journey.memory else {
            let challenge = RandomID.bytes(32)
            journey.memory = .challenged(challenge)
            return .prompt(Page(callbacks: [callback(journey.user, challenge)]))
        }
        let error = answers.text(0, "clientError")
        guard error.isEmpty else { return .transition(clientErrors.outcome(error)) }
        guard let statement = SignedStatement(answers.text(0, "jws")),
            let user = journey.user ?? UserKey(universalID: statement.claims["sub"]?.string ?? "", realm: journey.realm)
        else { return .transition(.failure) }
        let known = tx.devices.others(.binding, of: user)
        guard !known.isEmpty else { return .transition(.noDeviceRegistered) }
        guard var device = known.first(where: { $0.boundKeyID == statement.header["kid"]?.string }) else {
            return .transition(.keyNotFound)
        }
        guard let key = device.key, statement.isSigned(with: key), statement.isIssued(by: applications),
            statement.answers(challenge, userID: user.universalID, at: visit.moment.now)
        else { return .transition(.failure) }
        device.lastUsedAt = visit.moment.now
        tx.devices.save(device, for: user)
        journey.username = user.name
        return .transition(.success)
    }

    private func callback(_ user: UserKey?, _ challenge: [UInt8]) -> JourneyCallback {
        .any(
            "DeviceSigningVerifierCallback",
            [
                "userId": .string(user?.universalID ?? ""), "challenge": .string(Base64.encode(challenge, as: .standard)),
                "title": .string(prompt.title), "subtitle": .string(prompt.subtitle),
                "description": .string(prompt.description), "timeout": .integer(Int64(timeout)),
            ], ["jws": .string(""), "clientError": .string("")])
    }
}

/// A node that saves the device of a ``DeviceBindingNode`` with postponed storage.
struct DeviceBindingStorageNode: Node {
    var name: String { "DeviceBindingStorageNode" }
    var outcomes: [NodeOutcome] { [.isTrue, .isFalse] }

    func process(_ visit: NodeInput, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> NodeResult {
        guard let user = journey.user, let device = journey.pendingCredential, device.kind == .binding else {
            return .transition(.isFalse)
        }
        tx.devices.save(device, for: user)
        journey.pendingCredential = nil
        return .transition(.isTrue)
    }
}

extension OtherDevice {
    /// The id of the key that the device is bound to.
    fileprivate var boundKeyID: String? { details["key"]?["kid"]?.string }
}

extension UserKey {
    /// Parses the distinguished name of a user; nil unless it names a user of the realm.
    fileprivate init?(universalID: String, realm: RealmPath) {
        guard universalID.hasPrefix("id="), let end = universalID.firstRange(of: ",ou=user,")?.lowerBound else { return nil }
        self.init(realm: realm, name: String(universalID[..<end].dropFirst("id=".count)))
        guard self.universalID == universalID else { return nil }
    }
}
