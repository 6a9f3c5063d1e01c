import SignetCore
import YAMLText

/// A collector that asks for consent to share data.
///
/// If the consent is required, it asks until the user gives it.
struct ConsentCollector: Collector {
    static let type = NodeType(
        "ConsentNode", "Consent Collector", "Asks for consent to share data with another system."
    ) { decoder in
        let defaults = Self()
        return Self(
            mapping: decoder.string("mapping", defaults.mapping),
            displayName: decoder.string("displayName", defaults.displayName),
            message: decoder.localizedText("message", defaults.message), fields: decoder.strings("fields", defaults.fields),
            isRequired: decoder.bool("allRequired", defaults.isRequired))
    }

    var mapping = "managedUser_crm"
    var displayName = "CRM"
    var message: LocalizedText = "Share your profile"
    var fields = ["mail", "givenName"]
    var isRequired = false

    func callbacks(_ journey: JourneyState, _ tx: ServerTransaction) -> [JourneyCallback] {
        [
            .any(
                "ConsentMappingCallback",
                [
                    "name": .string(mapping), "displayName": .string(displayName), "icon": .string(""),
                    "accessLevel": .string("Actual Profile"), "isRequired": .bool(isRequired),
                    "message": .string(tx.text(message)),
                    "fields": .texts(fields),
                ], ["": .bool(false)])
        ]
    }

    func take(_ answers: Answers, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> CollectorResult {
        let isGiven = answers.bool(0)
        guard isGiven || !isRequired else { return .retry(callbacks(journey, tx)) }
        journey.attributes["consent-\(mapping)"] = .bool(isGiven)
        return .accepted
    }
}
