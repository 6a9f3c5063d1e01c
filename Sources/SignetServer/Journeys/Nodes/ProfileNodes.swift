import SignetCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A node that compares the collected device profile with the user's stored profile of that device.
struct DeviceMatchNode: Node {
    /// The number of metadata values that may differ.
    var variance = 0
    /// The time in days without use after which a stored profile is ignored.
    var expiration = 30

    var name: String { "DeviceMatchNode" }
    var outcomes: [NodeOutcome] { [.isTrue, .isFalse, .unknownDevice] }

    func process(_ visit: NodeInput, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> NodeResult {
        guard let user = journey.user, let profile = journey.attributes["deviceProfile"],
            let known = tx.devices.profile(profile["identifier"]?.string, of: user),
            known.lastUsedAt.addingTimeInterval(Double(expiration) * 86_400) > visit.moment.now
        else { return .transition(.unknownDevice) }
        let (old, new) = (known.details["metadata"]?.leaves ?? [:], profile["metadata"]?.leaves ?? [:])
        let changed = Set(old.keys).union(new.keys).count { old[$0] != new[$0] }
        return .transition(changed <= variance ? .isTrue : .isFalse)
    }
}

/// A node that stores the collected device profile. It replaces the earlier profile of the same device.
struct DeviceSaveNode: Node {
    var savesMetadata = true
    var savesLocation = true
    /// The attribute with the name that the user chose for the device. If it is nil, an existing profile keeps its name, and a
    /// new one gets the name that the device reports.
    var nameAttribute: String?

    var name: String { "DeviceSaveNode" }
    var outcomes: [NodeOutcome] { [.outcome] }

    func process(_ visit: NodeInput, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> NodeResult {
        guard let user = journey.user, var details = journey.attributes["deviceProfile"]?.object else {
            return .transition(.outcome)
        }
        let identifier = details["identifier"]?.string ?? ""
        let known = tx.devices.profile(identifier, of: user)
        let given = nameAttribute.flatMap { journey.attributes[$0]?.string }
        let own = details["metadata"]?["platform"]?["deviceName"]?.string
        if !savesMetadata { details["metadata"] = nil }
        if !savesLocation { details["location"] = nil }
        tx.devices.save(
            OtherDevice(
                kind: .profile, resourceID: known?.resourceID ?? RandomID.uuid(),
                name: given ?? known?.name ?? own ?? identifier, registeredAt: known?.registeredAt ?? visit.moment.now,
                lastUsedAt: visit.moment.now, details: details), for: user)
        return .transition(.outcome)
    }
}

extension DeviceRegistry {
    fileprivate func profile(_ identifier: String?, of user: UserKey) -> OtherDevice? {
        others(.profile, of: user).first { $0.details["identifier"]?.string == identifier }
    }
}

extension JSONValue {
    /// The values that are not objects, by the path of member names.
    fileprivate var leaves: [[String]: JSONValue] {
        guard case .object(let members) = self else { return [[]: self] }
        return members.reduce(into: [:]) { all, member in
            for (path, value) in member.value.leaves { all[[member.key] + path] = value }
        }
    }
}
