import SignetCore
import YAMLText

/// The definition of an attribute, which applies to every node that asks for it.
struct AttributeDefinition: Sendable, Hashable {
    /// The type of an attribute, with its name in JSON Schema.
    enum Kind: String, Sendable {
        case string, number, boolean
    }

    var title: LocalizedText
    var kind = Kind.string
    var policies: [AttributePolicy] = []

    /// The attributes of AM's identity management.
    static let builtIn: [String: AttributeDefinition] = [
        "userName": AttributeDefinition(
            title: "Username", policies: [.required, .minimumLength(3), .maximumLength(64), .unique]),
        "password": AttributeDefinition(
            title: "Password", policies: [.required, .minimumLength(8), .capitals(1), .digits(1)]),
        "givenName": AttributeDefinition(title: "First Name"), "sn": AttributeDefinition(title: "Last Name"),
        "mail": AttributeDefinition(title: "Email Address", policies: [.emailAddress]),
        "telephoneNumber": AttributeDefinition(title: "Telephone Number"),
        "preferences/updates": AttributeDefinition(title: "Send me news and updates", kind: .boolean),
        "preferences/marketing": AttributeDefinition(title: "Send me special offers and services", kind: .boolean),
    ]

    /// Returns the definition of an attribute that the file does not define: a string.
    static func plain(_ name: String) -> AttributeDefinition { AttributeDefinition(title: LocalizedText(name)) }

    /// Returns the policies that a string does not comply with.
    func failures(of text: String, attribute: String, _ journey: JourneyState, _ tx: ServerTransaction) throws
        -> [AttributePolicy]
    {
        try failures(of: .string(text), attribute: attribute, in: journey.realm, tx)
    }

    /// Returns the policies that a value does not comply with.
    ///
    /// ``AttributePolicy/safeCharacters`` applies to every text that is shown, and so not to passwords.
    func failures(
        of value: JSONValue, attribute: String, in realm: RealmPath, _ tx: ServerTransaction
    ) throws -> [AttributePolicy] {
        let applied = attribute == "password" ? policies : policies + [.safeCharacters]
        return try applied.filter { try !$0.accepts(value, attribute: attribute, in: realm, tx) }
    }
}

extension NodeType {
    /// Creates the type of a collector for a credential of a new user.
    /// - Parameters:
    ///   - name: The name of the type in AM.
    ///   - title: The name of the type in AM's editor.
    ///   - attribute: The attribute that defines the title and the policies of the credential.
    ///   - credential: The credential in words.
    ///   - ignoredSettings: The settings of AM's node that have no effect here.
    ///   - collector: Creates the collector. The definition is nil when the file does not ask for validation.
    /// - Returns: A type whose nodes have the setting `validateInput`.
    static func validated(
        _ name: String, _ title: String, attribute: String, _ credential: String,
        ignoring ignoredSettings: [String],
        _ collector: @escaping @Sendable (AttributeDefinition?) -> any Collector
    ) -> NodeType {
        NodeType(
            name, title,
            "Asks for the \(credential) of a new user; with `validateInput` until it complies with the policies of `\(attribute)`.",
            ignoring: ignoredSettings,
            withContext: { decoder, context in
                collector(decoder.bool("validateInput", false) ? context.attributes[attribute] ?? .plain(title) : nil)
            })
    }
}

extension ConfigurationDecoder {
    /// Decodes the definition of an attribute.
    mutating func attributeDefinition(_ name: String) -> AttributeDefinition {
        let title = localizedText("title", AttributeDefinition.builtIn[name]?.title ?? LocalizedText(name))
        let kinds: KeyValuePairs<String, AttributeDefinition.Kind> = ["string": .string, "number": .number, "boolean": .boolean]
        return AttributeDefinition(
            title: title, kind: choice("type", "string", kinds) ?? .string, policies: policies("policies"))
    }

    /// Decodes a list of policies: `not-empty`, or `minimum-length: 8`.
    mutating func policies(_ name: String) -> [AttributePolicy] {
        elements(name, kind: "a list of policies").compactMap { element in
            let pair = element.mapping.flatMap { $0.count == 1 ? $0.first : nil }
            let id = pair?.key ?? element.text ?? ""
            if let policy = AttributePolicy(id: id, limit: pair?.value.integer) { return policy }
            if !AttributePolicy.ids.contains(id) {
                report(
                    .unknownName, at: element.position,
                    "there is no policy `\(id.shortened)`" + AttributePolicy.ids.suggestion(for: id))
            } else if AttributePolicy(id: id, limit: nil) != nil {
                report(.invalidValue, at: element.position, "the policy `\(id)` has no limit: write `\(id)` alone")
            } else {
                report(.invalidValue, at: element.position, "the policy `\(id)` needs an integer, without quotes: `\(id): 8`")
            }
            return nil
        }
    }
}
