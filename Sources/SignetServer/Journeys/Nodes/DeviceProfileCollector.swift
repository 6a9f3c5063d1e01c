import SignetCore

/// A collector that asks for the device profile and stores it in the journey's attributes.
struct DeviceProfileCollector: Collector {
    static let type = NodeType(
        "DeviceProfileCollectorNode", "Device Profile Collector",
        "Asks for the device profile. Device Match compares it with stored ones, and Device Profile Save stores it."
    ) { decoder in
        let defaults = Self()
        return Self(
            wantsMetadata: decoder.bool("deviceMetadata", defaults.wantsMetadata),
            wantsLocation: decoder.bool("deviceLocation", defaults.wantsLocation),
            message: decoder.localizedText("message", defaults.message),
            maxSize: decoder.integer("maximumSize", defaults.maxSize / 1024, in: 1...1024) * 1024)
    }

    var wantsMetadata = true
    var wantsLocation = true
    var message: LocalizedText = "Collecting profile ..."
    /// The maximum size of a profile, in bytes.
    var maxSize = 64 * 1024

    func callbacks(_ journey: JourneyState, _ tx: ServerTransaction) -> [JourneyCallback] {
        [
            .any(
                "DeviceProfileCallback",
                ["metadata": .bool(wantsMetadata), "location": .bool(wantsLocation), "message": .string(tx.text(message))],
                ["": .string("")])
        ]
    }

    func take(_ answers: Answers, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> CollectorResult {
        let text = answers.text(0)
        guard text.utf8.count <= maxSize, let profile = try? JSON.value(of: text.utf8), profile.isStorable,
            let identifier = profile["identifier"]?.string, !identifier.isEmpty
        else { return .retry(callbacks(journey, tx)) }
        var kept: [String: JSONValue] = ["identifier": .string(identifier)]
        for name in ["metadata", "location"] { kept[name] = profile[name]?.object.map { .object($0) } }
        journey.attributes["deviceProfile"] = .object(kept)
        return .accepted
    }
}
