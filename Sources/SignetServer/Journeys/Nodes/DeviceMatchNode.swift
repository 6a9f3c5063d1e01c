import Foundation
import SignetCore

/// A node that compares the collected device profile with the user's stored profile of that device.
struct DeviceMatchNode: Node {
    static let type = NodeType(
        "DeviceMatchNode", "Device Match", "Compares the collected device profile with the user's stored ones."
    ) { decoder in
        Self(
            variance: decoder.integer("acceptableVariance", 0, in: 0...1000),
            expiration: decoder.integer("expiration", 30, in: 1...36_500))
    }

    /// The number of metadata values that may differ.
    var variance = 0
    /// The time in days without use after which a stored profile is ignored.
    var expiration = 30

    var outcomes: [NodeOutcome] { [.isTrue, .isFalse, .unknownDevice] }
    var repeatedOutcomes: [NodeOutcome] { outcomes }

    func process(_ answers: Answers?, _ journey: inout JourneyState, _ tx: inout ServerTransaction) throws -> NodeResult {
        guard let user = journey.user, let profile = journey.attributes["deviceProfile"],
            let known = try tx.devices.profile(profile["identifier"]?.string, of: user),
            known.lastUsedAt.addingTimeInterval(Double(expiration) * 86_400) > tx.now
        else { return .transition(.unknownDevice) }
        let (old, new) = (known.details["metadata"]?.leaves ?? [:], profile["metadata"]?.leaves ?? [:])
        let changed = Set(old.keys).union(new.keys).count { old[$0] != new[$0] }
        return .transition(changed <= variance ? .isTrue : .isFalse)
    }
}

extension DeviceRegistry {
    func profile(_ identifier: String?, of user: UserKey) throws -> OtherDevice? {
        try others(.profile, of: user).first { $0.details["identifier"]?.string == identifier }
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
