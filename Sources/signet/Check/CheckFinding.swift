import SignetCore

/// A part of RFC 9700 whose recommendations `signet check` compares a provider with.
enum CheckSection: String, Sendable, CaseIterable {
    case redirects = "2.1"
    case codeGrant = "2.1.1"
    case implicitGrant = "2.1.2"
    case accessTokens = "2.2.1"
    case refreshTokens = "2.2.2"
    case passwordGrant = "2.4"
    case clientAuthentication = "2.5"
    case other = "2.6"

    /// The title of the section, without "Protecting" and in lower case.
    var title: String {
        switch self {
        case .redirects: "redirect-based flows"
        case .codeGrant: "authorization code grant"
        case .implicitGrant: "implicit grant"
        case .accessTokens: "access tokens"
        case .refreshTokens: "refresh tokens"
        case .passwordGrant: "resource owner password credentials grant"
        case .clientAuthentication: "client authentication"
        case .other: "other recommendations"
        }
    }
}

/// The result of one comparison of a provider with RFC 9700.
struct CheckFinding: Sendable, Hashable {
    /// The kind of a result.
    enum Result: String, Sendable, CaseIterable {
        /// The provider follows the recommendation.
        case pass
        /// The provider does not follow a recommendation, or does not publish whether it does.
        case warn
        /// The provider does what RFC 9700, or a specification that it names, forbids.
        case fail
        /// The comparison needs something that is not there, such as a login.
        case skipped
    }

    /// The name of the comparison, for scripts.
    let id: String
    let section: CheckSection
    let result: Result
    /// The observation that decided, as a sentence without a point.
    let reason: String

    init(_ id: String, _ section: CheckSection, _ result: Result, _ reason: String) {
        self.id = id
        self.section = section
        self.result = result
        self.reason = reason
    }

    /// The finding in the JSON output.
    var json: JSONValue {
        .object([
            "id": .string(id), "section": .string(section.rawValue), "result": .string(result.rawValue),
            "reason": .string(reason),
        ])
    }
}
