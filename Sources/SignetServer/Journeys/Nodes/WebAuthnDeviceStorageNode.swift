/// A node that saves the credential of a ``WebAuthnRegistrationNode`` with postponed storage.
struct WebAuthnDeviceStorageNode: Node {
    static let type = NodeType(
        "WebAuthnDeviceStorageNode", "WebAuthn Device Storage",
        "Saves the passkey of a WebAuthn Registration Node with postponed storage. It has the outcome `exceedDeviceLimit` if it has `maxSavedDevices`."
    ) { decoder in
        Self(generatesRecoveryCodes: decoder.bool("generateRecoveryCodes", true), maxDevices: decoder.maxDevices())
    }

    var generatesRecoveryCodes = true
    /// The maximum number of credentials of a user; 0 for no limit, where the oldest is replaced when there are too many
    /// (``DeviceRegistry/maxPerKind``).
    var maxDevices = 0

    var outcomes: [NodeOutcome] { [.success, .failure] + (maxDevices > 0 ? [.exceedDeviceLimit] : []) }

    func process(_ answers: Answers?, _ journey: inout JourneyState, _ tx: inout ServerTransaction) throws -> NodeResult {
        guard let user = journey.user, let device = journey.pendingCredential, device.kind == .webauthn else {
            return .transition(.failure)
        }
        guard try maxDevices == 0 || tx.devices.others(.webauthn, of: user).count < maxDevices else {
            return .transition(.exceedDeviceLimit)
        }
        try tx.save(device, of: user, withCodes: generatesRecoveryCodes, &journey)
        journey.pendingCredential = nil
        return .transition(.success)
    }
}

extension ServerTransaction {
    /// Saves a credential.
    ///
    /// Without new recovery codes, those of an earlier passkey remain valid.
    mutating func save(
        _ device: OtherDevice, of user: UserKey, withCodes: Bool, _ journey: inout JourneyState
    ) throws {
        try devices.save(device, for: user)
        guard withCodes else { return }
        journey.recoveryCodes = RecoveryCodes.new(for: .webauthn, device.name)
        try devices.keep(journey.recoveryCodes, for: .webauthn, of: user)
    }
}
