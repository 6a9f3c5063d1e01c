import SignetCore

/// A collector that asks the user to accept the terms, until the user does.
struct TermsCollector: Collector {
    static let type = NodeType(
        "AcceptTermsAndConditionsNode", "Accept Terms and Conditions", "Asks the user to accept terms, until the user does."
    ) { decoder in
        let defaults = Self()
        return Self(
            version: decoder.string("version", defaults.version), terms: decoder.localizedText("terms", defaults.terms),
            createdAt: decoder.string("createDate", defaults.createdAt))
    }

    var version = "1.0"
    var terms: LocalizedText = "For development and tests only."
    /// The creation time of the terms, in the format of RFC 3339.
    var createdAt = "2024-01-31T10:00:00.000Z"

    func callbacks(_ journey: JourneyState, _ tx: ServerTransaction) -> [JourneyCallback] {
        [
            .any(
                "TermsAndConditionsCallback",
                ["version": .string(version), "terms": .string(tx.text(terms)), "createDate": .string(createdAt)],
                ["": .bool(false)])
        ]
    }

    func take(_ answers: Answers, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> CollectorResult {
        guard answers.bool(0) else { return .retry(callbacks(journey, tx)) }
        journey.attributes["termsAccepted"] = .string(version)
        return .accepted
    }
}
