import SignetCore
import YAMLText

/// Nodes that ask for something and have the single outcome `outcome`.
extension NodeType {
    /// The types that can be anywhere on a page. A node that asks in one step and has several outcomes can only be the last one
    /// on a page.
    static let collectors: [NodeType] = [
        .collector("UsernameCollectorNode", "Username Collector", "Asks for the user's name.") { _ in UsernameCollector() },
        .collector("PasswordCollectorNode", "Password Collector", "Asks for the password.") { _ in PasswordCollector() },
        .newCredential(.username, "ValidatedUsernameNode", "Platform Username", attribute: "userName", called: "name"),
        .newCredential(.password, "ValidatedPasswordNode", "Platform Password", attribute: "password", called: "password"),
        attributes,
        .collector(
            "InputCollectorNode", "Input Collector",
            "Asks for a text and keeps it under a name. AM shows this callback by a script."
        ) { reader in
            TextCollector(
                attribute: reader.text("attribute", "input"), prompt: reader.words("prompt", "Input"),
                standard: reader.text("defaultText", ""))
        },
        .collector(
            "KbaCreateNode", "KBA Definition",
            "Asks for questions that only the person can answer. Create Object and Patch Object keep the answers, as digests."
                + " A blank answer is asked for again."
        ) { reader in
            let standard = SecurityQuestionsCollector()
            return SecurityQuestionsCollector(
                questions: reader.texts("questions", standard.questions),
                allowsOwn: reader.truth("allowUserDefinedQuestions", standard.allowsOwn),
                count: reader.number("minimumAnswersToDefine", standard.count, in: 1...10),
                prompt: reader.words("message", standard.prompt))
        },
        .collector(
            "AcceptTermsAndConditionsNode", "Accept Terms and Conditions", "Asks to accept terms, until they are accepted."
        ) { reader in
            let standard = TermsCollector()
            return TermsCollector(
                version: reader.text("version", standard.version), terms: reader.words("terms", standard.terms),
                createdAt: reader.text("createDate", standard.createdAt))
        },
        .collector("ConsentNode", "Consent Collector", "Asks whether data may be shared with another system.") { reader in
            let standard = ConsentCollector()
            return ConsentCollector(
                mapping: reader.text("mapping", standard.mapping), displayName: reader.text("displayName", standard.displayName),
                message: reader.words("message", standard.message), fields: reader.texts("fields", standard.fields),
                isRequired: reader.truth("allRequired", standard.isRequired))
        },
        .collector(
            "DeviceProfileCollectorNode", "Device Profile Collector",
            "Asks for what the device tells about itself. Device Match compares it, Device Save keeps it."
        ) { reader in
            let standard = DeviceProfileCollector()
            return DeviceProfileCollector(
                wantsMetadata: reader.truth("deviceMetadata", standard.wantsMetadata),
                wantsLocation: reader.truth("deviceLocation", standard.wantsLocation),
                message: reader.words("message", standard.message),
                largest: reader.number("maximumSize", standard.largest / 1024, in: 1...1024) * 1024)
        },
    ]

    static let page = NodeType(
        "PageNode", "Page",
        "Shows several collectors at once. `nodes` is a list of them, each with its `type` and properties. The last one can be another node that asks, and the page has its outcomes then."
    ) { reader, context in
        var page = PageNode(collectors: [])
        let children = reader.elements("nodes", kind: "a list of nodes")
        if children.isEmpty, reader.problems.isEmpty {
            reader.note(reader.place, "a page without `nodes` shows nothing: list the collectors that are on it")
        }
        var isWhole = !children.isEmpty
        for (index, child) in children.enumerated() {
            var part = SectionReader(child, subject: reader.subject.map { "\($0), on the page" })
            let read = part.nodeParts(context)
            if read.map({ part.put($0, on: &page, isLast: index == children.count - 1) }) != true { isWhole = false }
            reader.note(part.finished())
        }
        page.stage = reader.optionalText("stage")
        page.header = reader.optionalWords("pageHeader")
        page.description = reader.optionalWords("pageDescription")
        // A node that is missing on the page might have the outcomes that the file names.
        return isWhole ? .node(page) : .incomplete(page)
    }

    private static func newCredential(
        _ kind: NewCredentialCollector.Kind, _ name: String, _ title: String, attribute: String, called: String
    ) -> NodeType {
        NodeType(
            name, title,
            "Asks for the \(called) of somebody who is to be a user; with `validateInput` until it keeps the policies of `\(attribute)`."
        ) { reader, context in
            guard reader.truth("validateInput", false) else {
                return .collectors([kind == .username ? UsernameCollector() : PasswordCollector()])
            }
            let definition = context.attributes[attribute] ?? .plain(title)
            return .collectors([
                NewCredentialCollector(kind: kind, prompt: definition.title, policies: definition.policies)
            ])
        }
    }

    private static let attributes = NodeType(
        "AttributeCollectorNode", "Attribute Collector",
        "Asks for attributes; what they are called and must be like is in the section `attributes`."
    ) { reader, context in
        let names = reader.optionalTexts("attributesToCollect") ?? []
        let isRequired = reader.truth("required", false)
        let isValidated = reader.truth("validateInputs", false)
        if names.isEmpty, reader.problems.isEmpty {
            reader.note(reader.place, "`attributesToCollect` is missing: it is a list of attributes, `[givenName, mail]`")
        }
        return .collectors(
            names.map { name in
                let definition = context.attributes[name] ?? .plain(name)
                let policies = isValidated ? definition.policies : []
                let isExtra = isRequired && !policies.contains(.required)
                return AttributeCollector(
                    attribute: name, prompt: definition.title, kind: definition.kind,
                    policies: (isExtra ? [.required] : []) + policies)
            })
    }
}

extension SectionReader {
    /// Reads a node's type and its properties. It returns nil when the type is missing or unknown.
    mutating func nodeParts(_ context: NodeContext) -> (type: NodeType, parts: DecodedNode)? {
        guard let value = requiredValue("type", kind: "the name of a node type") else {
            ignoreTheRest()
            return nil
        }
        let name = value.text ?? ""
        guard let type = NodeType.named(name) else {
            note(
                value.place,
                "there is no node type `\(name.shortened)`" + NodeType.all.map(\.name).advice(for: name, "there are"))
            ignoreTheRest()
            return nil
        }
        return (type, type.read(&self, context))
    }

    /// Puts a node on a page if that is possible.
    /// - Returns: True when the node was put on the page.
    fileprivate mutating func put(_ read: (type: NodeType, parts: DecodedNode), on page: inout PageNode, isLast: Bool) -> Bool {
        let name = read.type.name
        switch read.parts {
        case .collectors(let collectors):
            page.collectors += collectors
            return true
        case .node(let node) where node.interaction == .embeddable && isLast:
            page.last = node
            return true
        case .node(let node), .incomplete(let node):
            let reason =
                switch node.interaction {
                case .none: "asks nothing, and cannot be on a page: let an outcome of the page lead to it"
                case .embeddable: "gives the page its outcomes, and only the last node can: move it to the end of `nodes`"
                case .ownPage: "needs a page of its own: let an outcome of this page lead to it"
                }
            note(place(of: "type"), "`\(name)` \(reason)")
            return false
        }
    }
}
