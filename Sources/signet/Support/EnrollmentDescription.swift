import SignetAuthenticator
import SignetCore

/// An enrollment as text for the user or as JSON, without its secrets.
///
/// The names are those of the enrollment test vectors.
struct EnrollmentDescription {
    private let members: [(name: String, value: JSONValue)]

    /// Describes an enrollment.
    /// - Parameters:
    ///   - enrollment: The enrollment, under its final name.
    ///   - original: The account that the URI names.
    ///   - replaced: The mechanisms that the enrollment replaces.
    init(_ enrollment: Enrollment, renamedFrom original: AccountID, replaced: [Mechanism]) {
        var members: [(String, JSONValue?)] = [
            ("type", .string(Self.type(of: enrollment))),
            ("issuer", .string(enrollment.account.issuer)),
            ("account", .string(enrollment.account.accountName)),
        ]
        if let oath = enrollment.oath { members += Self.members(of: oath) }
        if let push = enrollment.push { members += Self.members(of: push) }
        members += [
            ("image", .string(enrollment.imageURL)),
            ("backgroundColor", .string(enrollment.backgroundColor)),
            ("policies", enrollment.policies.isEmpty ? nil : .object(enrollment.policies)),
            ("uid", .string(enrollment.userID)),
            ("oathResourceId", .string(enrollment.oathResourceID)),
            ("pushResourceId", .string(enrollment.push?.resourceID)),
            ("renamedFrom", original == enrollment.account ? nil : .string(original.accountName)),
            ("replaced", replaced.isEmpty ? nil : .array(replaced.map { .string($0.kindName.rawValue) })),
        ]
        self.members = members.compactMap { name, value in value.map { (name, $0) } }
    }

    /// All members as one JSON object.
    var json: JSONValue { .object(Dictionary(members.map { ($0.name, $0.value) }) { first, _ in first }) }

    /// All members as text, except issuer and account name.
    var lines: [(String, TerminalText)] {
        members.filter { $0.name != "issuer" && $0.name != "account" }.map {
            ($0.name, $0.value.string.map { TerminalText($0) } ?? JSONText.line($0.value))
        }
    }

    private static func type(of enrollment: Enrollment) -> String {
        enrollment.kinds.map { Mechanism.KindName($0).rawValue }.joined(separator: "+")
    }

    private static func members(of oath: OATHSettings) -> [(String, JSONValue?)] {
        let factor: (String, JSONValue?) =
            switch oath.factor {
            case .time(let period): ("period", .integer(Int64(period.seconds)))
            case .counter(let next): ("counter", .integer(Int64(clamping: next)))
            }
        return [
            ("algorithm", .string(oath.algorithm.rawValue)), ("digits", .integer(Int64(oath.digits.count))), factor,
            ("encoding", .string(oath.encoding == .steam ? "steam" : nil)),
            ("secret", .string(oath.secret.description)),
        ]
    }

    private static func members(of push: PushInvitation) -> [(String, JSONValue?)] {
        [
            ("registrationEndpoint", .string(push.registrationEndpoint.url)),
            ("authenticationEndpoint", .string(push.authenticationEndpoint.url)),
            ("loadBalancer", .string(push.loadBalancerCookie)),
            ("messageId", .string(push.messageID)),
            ("pushSecret", .string(push.secret.description)),
        ]
    }
}
