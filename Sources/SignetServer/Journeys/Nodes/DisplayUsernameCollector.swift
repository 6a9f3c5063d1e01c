import SignetCore

/// A collector that shows the name of the user.
struct DisplayUsernameCollector: Collector {
    static let type = NodeType(
        "DisplayUserNameNode", "Display Username",
        "Shows the name of the user with the typed name or the collected `identityAttribute`."
    ) { decoder in
        Self(
            attribute: decoder.string("userName", UserAttributes.userName),
            identityAttribute: decoder.string("identityAttribute", "mail"))
    }

    /// The attribute to show.
    var attribute = UserAttributes.userName
    var identityAttribute = "mail"

    func callbacks(_ journey: JourneyState, _ tx: ServerTransaction) throws -> [JourneyCallback] {
        let user = try tx.directory.user(of: journey, by: identityAttribute)
        let value = try user.flatMap { try tx.directory[$0]?.attribute(attribute) }
        return [.information(value?.string ?? "")]
    }

    func take(_ answers: Answers, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> CollectorResult { .accepted }
}
