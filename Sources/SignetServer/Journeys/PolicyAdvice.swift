import HTTPTypes
import SignetCore

/// The requirements that a policy returned when it denied access: XML in `authIndexValue` (protocol/journey.md section 1.4).
struct PolicyAdvice: Sendable, Hashable {
    /// A journey to complete, in a realm if the advice names one.
    struct Service: Sendable, Hashable {
        let name: String
        var realm: RealmPath?
    }

    /// The kind of authentication that the advice requires.
    enum Requirement: Sendable, Hashable {
        /// Complete one of the journeys; not empty.
        case services([Service])
        /// Log in to one of the realms with the default journey.
        case realm([RealmPath])
        /// Confirm a transaction. Only the policy knows which transaction it is. Each confirmation needs a new run of the journey.
        case transaction
    }

    let requirement: Requirement
    /// True when the journey runs even if the user has already completed it.
    var isForced = false

    /// Advice that names one journey.
    static func service(_ name: String, _ realm: RealmPath?) -> PolicyAdvice {
        PolicyAdvice(requirement: .services([Service(name: name, realm: realm)]))
    }

    /// Parses `<Advices><AttributeValuePair><Attribute name="TYPE"/><Value>VALUE</Value></AttributeValuePair></Advices>`, with
    /// optional whitespace between the tags.
    ///
    /// There can be several pairs, and several values in each. As in AM, a journey comes before the other requirements. The names of
    /// authentication modules are those of journeys, because this server has no modules.
    /// - Throws: ``APIError`` when the text is malformed or the server does not support the advice.
    init(_ text: String) throws(APIError) {
        let values = try Self.values(of: text)
        if let names = values["AuthenticateToServiceConditionAdvice"] {
            requirement = .services(try names.map { name throws(APIError) in try Self.service(name) })
        } else if values["TransactionConditionAdvice"] != nil {
            requirement = .transaction
        } else if let names = values["AuthSchemeConditionAdvice"] {
            requirement = .services(try names.map { name throws(APIError) in try Self.service(name) })
        } else if let realms = values["AuthenticateToRealmConditionAdvice"] {
            requirement = .realm(realms.map { RealmPath($0) })
        } else {
            let types = values.keys.sorted().joined(separator: ", ")
            throw APIError(.badRequest, "This server cannot follow the policy advice \(types).")
        }
        isForced = values["ForceAuth"]?.contains { $0.lowercased() == "true" } ?? false
    }

    private init(requirement: Requirement) { self.requirement = requirement }

    /// Reads `/alpha:Tree`, `/:Tree` or a name alone.
    private static func service(_ value: String) throws(APIError) -> Service {
        let parts = value.split(separator: ":", maxSplits: 1)
        guard let name = parts.last else { throw .malformedAdvice }
        return Service(name: String(name), realm: parts.count == 2 ? RealmPath(parts[0]) : nil)
    }

    /// Returns the values of each type of advice; at least one type, and at least one value of each.
    private static func values(of text: String) throws(APIError) -> [String: [String]] {
        var rest = Substring(text)
        var values: [String: [String]] = [:]
        guard rest.take("<Advices>") else { throw .malformedAdvice }
        while rest.take("<AttributeValuePair>") {
            guard rest.take("<Attribute"), rest.first?.isWhitespace ?? false, rest.take("name=\"") else { throw .malformedAdvice }
            let type = rest.takeText(until: "\"")
            guard rest.take("\""), rest.take("/>") else { throw .malformedAdvice }
            var found: [String] = []
            while rest.take("<Value>") {
                found.append(rest.takeText(until: "<"))
                guard rest.take("</Value>") else { throw .malformedAdvice }
            }
            guard rest.take("</AttributeValuePair>"), !found.isEmpty, !found.contains("") else { throw .malformedAdvice }
            values[type, default: []] += found
        }
        guard rest.take("</Advices>"), rest.allSatisfy(\.isWhitespace), !values.isEmpty else { throw .malformedAdvice }
        return values
    }
}

extension APIError {
    fileprivate static let malformedAdvice = APIError(.badRequest, "The policy advice is malformed.")
}

extension Substring {
    /// Removes a tag and the whitespace before it from the start, and returns true.
    ///
    /// If another text follows, it returns false.
    fileprivate mutating func take(_ tag: String) -> Bool {
        let start = drop(while: \.isWhitespace)
        guard start.hasPrefix(tag) else { return false }
        self = start.dropFirst(tag.count)
        return true
    }

    /// Removes the text before a character from the start and returns it, with its character references resolved.
    fileprivate mutating func takeText(until mark: Character) -> String {
        let text = prefix { $0 != mark }
        self = self[text.endIndex...]
        return CharacterReferences.decode(String(text.trimming(" \t\r\n")))
    }
}
