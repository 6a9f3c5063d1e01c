import SignetCore

/// A node that checks if the user matches a filter.
struct QueryFilterDecisionNode: Node {
    static let type = NodeType(
        "QueryFilterDecisionNode", "Query Filter Decision",
        "Checks if the attributes of the user match a filter in the language of AM's REST: `!(/preferences pr) or /age lt 18`. The operators are `eq`, `co`, `sw`, `lt`, `le`, `gt`, `ge`, `pr`, `and`, `or` and `!`."
    ) { decoder in
        let filter = decoder.queryFilter("queryFilter")
        return Self(filter: filter, identityAttribute: decoder.identityAttribute())
    }

    var filter: QueryFilter
    var identityAttribute = UserAttributes.userName

    var outcomes: [NodeOutcome] { [.isTrue, .isFalse] }
    var repeatedOutcomes: [NodeOutcome] { outcomes }

    func process(_ answers: Answers?, _ journey: inout JourneyState, _ tx: inout ServerTransaction) throws -> NodeResult {
        guard let user = try tx.directory.user(of: journey, by: identityAttribute), let record = try tx.directory[user] else {
            tx.explain("there is no such user")
            return .transition(.isFalse)
        }
        return .transition(filter.matches { record.attribute($0) } ? .isTrue : .isFalse)
    }
}

extension ConfigurationDecoder {
    /// Decodes a required filter.
    fileprivate mutating func queryFilter(_ name: String) -> QueryFilter {
        let text = requiredString(name, kind: "a filter")
        guard !text.isEmpty else { return .literal(false) }
        do throws(QueryFilterError) {
            return try QueryFilter(text)
        } catch {
            report(.invalidValue, in: name, "`\(name)` is not a filter: \(error.explanation)")
            return .literal(false)
        }
    }
}
