/// A node that saves the device of a ``DeviceBindingNode`` with postponed storage.
struct DeviceBindingStorageNode: Node {
    static let type = NodeType(
        "DeviceBindingStorageNode", "Device Binding Storage", "Saves the device of a Device Binding with postponed storage."
    ) { _ in Self() }

    var outcomes: [NodeOutcome] { [.isTrue, .isFalse] }

    func process(_ answers: Answers?, _ journey: inout JourneyState, _ tx: inout ServerTransaction) throws -> NodeResult {
        guard let user = journey.user, let device = journey.pendingCredential, device.kind == .binding else {
            return .transition(.isFalse)
        }
        try tx.devices.save(device, for: user)
        journey.pendingCredential = nil
        return .transition(.isTrue)
    }
}
