import SignetCore

/// A node that stores the collected device profile.
///
/// It replaces the earlier profile of the same device.
struct DeviceSaveNode: Node {
    static let type = NodeType("DeviceSaveNode", "Device Profile Save", "Stores the collected device profile.") { decoder in
        Self(
            savesMetadata: decoder.bool("saveDeviceMetadata", true), savesLocation: decoder.bool("saveDeviceLocation", true),
            nameAttribute: decoder.optionalString("variableName", default: "the name that the device reports"))
    }

    var savesMetadata = true
    var savesLocation = true
    /// The attribute with the name that the user chose for the device.
    ///
    /// If it is nil, an existing profile keeps its name, and a new one gets the name that the device reports.
    var nameAttribute: String?

    var outcomes: [NodeOutcome] { [.outcome] }

    func process(_ answers: Answers?, _ journey: inout JourneyState, _ tx: inout ServerTransaction) throws -> NodeResult {
        guard let user = journey.user, var details = journey.attributes["deviceProfile"]?.object else {
            return .transition(.outcome)
        }
        let identifier = details["identifier"]?.string ?? ""
        let known = try tx.devices.profile(identifier, of: user)
        let given = nameAttribute.flatMap { journey.attributes[$0]?.string }
        let own = details["metadata"]?["platform"]?["deviceName"]?.string
        if !savesMetadata { details["metadata"] = nil }
        if !savesLocation { details["location"] = nil }
        try tx.devices.save(
            OtherDevice(
                kind: .profile, resourceID: known?.resourceID ?? RandomID.uuid(),
                name: given ?? known?.name ?? own ?? identifier, registeredAt: known?.registeredAt ?? tx.now,
                lastUsedAt: tx.now, details: details), for: user)
        return .transition(.outcome)
    }
}
