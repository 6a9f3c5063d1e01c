import SignetCore

/// A node that lets the user choose between a password and an identity provider.
struct SelectIdPNode: Node {
    static let type = NodeType(
        "SelectIdPNode", "Select Identity Provider",
        "Lets the user choose one of the `filteredProviders`, or with `includeLocalAuthentication` a login at this server. With only one of them there is nothing to choose. The state `selectedIdp` is the name of the provider.",
        outcomes:
            "`socialAuthentication` if it has `filteredProviders`, `localAuthentication` if it has `includeLocalAuthentication`",
        ignoring: ["offerOnlyExisting", "passwordAttribute", "identityAttribute"]
    ) { decoder in
        let includesLocal = decoder.bool("includeLocalAuthentication", true)
        let providers = decoder.optionalStrings("filteredProviders") ?? []
        if !includesLocal, providers.isEmpty {
            decoder.report(
                .missingSetting, in: "includeLocalAuthentication",
                "there is nothing to choose: list `filteredProviders`, or leave out `includeLocalAuthentication`")
        }
        return Self(includesLocal: includesLocal, providers: providers)
    }

    /// The name of the login at this server among the providers.
    private static let local = "localAuthentication"

    var includesLocal = true
    var providers: [String] = []

    var outcomes: [NodeOutcome] {
        (providers.isEmpty ? [] : [.socialAuthentication]) + (includesLocal ? [.localAuthentication] : [])
    }
    var ignoredOutcomes: [NodeOutcome] {
        [.socialAuthentication, .localAuthentication].filter { !outcomes.contains($0) }
    }
    var interaction: Interaction { .embeddable }

    private var choices: [String] { providers + (includesLocal ? [Self.local] : []) }

    func process(_ answers: Answers?, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> NodeResult {
        let choices = choices
        let chosen = choices.count == 1 ? choices.first : answers?.text(0)
        guard let chosen, choices.contains(chosen) else { return .prompt(Page(callbacks: [callback(choices)])) }
        journey.attributes["selectedIdp"] = .string(chosen)
        return .transition(chosen == Self.local ? .localAuthentication : .socialAuthentication)
    }

    private func callback(_ choices: [String]) -> JourneyCallback {
        let providers = choices.map { name -> JSONValue in
            guard name != Self.local else { return .object(["provider": .string(name)]) }
            let title = name.prefix(1).uppercased() + name.dropFirst()
            return .object(["provider": .string(name), "uiConfig": .object(["buttonDisplayName": .string(title)])])
        }
        return .any("SelectIdPCallback", ["providers": .array(providers), "value": .string("")], ["": .string("")])
    }
}
