/// A node that saves the device of an ``OATHRegistrationNode``.
struct OATHDeviceStorageNode: Node {
    static let type = NodeType(
        "OathDeviceStorageNode", "OATH Device Storage", "Saves the device of an OATH Registration with postponed storage."
    ) { _ in Self() }

    var outcomes: [NodeOutcome] { [.successOutcome, .failureOutcome] }

    func process(_ answers: Answers?, _ journey: inout JourneyState, _ tx: inout ServerTransaction) throws -> NodeResult {
        guard let user = journey.user, let device = journey.pendingOATH else { return .transition(.failureOutcome) }
        try tx.save(device, of: user, journey.recoveryCodes)
        journey.pendingOATH = nil
        return .transition(.successOutcome)
    }
}

extension ServerTransaction {
    /// Saves an OATH device and its recovery codes.
    mutating func save(_ device: OATHDevice, of user: UserKey, _ codes: RecoveryCodes?) throws {
        var device = device
        device.registeredAt = now
        devices.save(device, for: user)
        // Recovery codes of a different kind belong to another device that the same journey registered.
        try devices.keep(codes?.kind == .oath ? codes : nil, for: .oath, of: user)
    }
}
