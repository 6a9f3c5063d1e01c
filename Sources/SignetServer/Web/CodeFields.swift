import SignetCore

/// The callbacks of a step that ask for a code, by the nodes that ask.
///
/// A callback on the wire tells only by its prompt, which the author of a journey chooses in any language. Callbacks of other nodes,
/// such as those of a script, are not in it: their prompts have to be read (``CallbackView/asksCode``).
struct CodeFields: Sendable, Hashable {
    /// The kind of a code.
    enum Kind: Sendable, Hashable {
        /// A code of digits, from an authenticator or an email.
        case oneTimeCode
        /// A recovery code, which can contain letters.
        case recoveryCode

        /// Creates the kind for which a node asks in its first callback; nil when the node asks for something else.
        init?(_ node: any Node) {
            switch node {
            case is OATHTokenVerifierNode, is OneTimePasswordCollectorDecisionNode: self = .oneTimeCode
            case is RecoveryCodeCollectorDecisionNode: self = .recoveryCode
            default: return nil
            }
        }
    }

    private var index: Int?
    private var kind: Kind?

    /// No callback.
    static let none = CodeFields()

    private init() {}

    /// Creates the fields of a step with a code.
    /// - Parameters:
    ///   - kind: The kind of the code.
    ///   - index: The index of the callback.
    ///   - step: The step. It may have no such callback: the last node of a page is not asked when it has its outcome already.
    init(_ kind: Kind, at index: Int, in step: JourneyStep) {
        guard step.callbacks.indices.contains(index), Self.types.contains(step.callbacks[index].type) else { return }
        (self.index, self.kind) = (index, kind)
    }

    /// The callbacks in which nodes ask for codes.
    private static let types: Set = ["NameCallback", "PasswordCallback"]
    /// The prompts of AM's collectors of names and passwords.
    private static let credentials: Set = ["User Name", "Password"]

    /// Returns true when a callback of the step can ask for a code.
    ///
    /// Most pages ask for a name and a password only. Nothing has to be read for them.
    static func arePossible(in step: JourneyStep) -> Bool {
        step.callbacks.contains { callback in
            types.contains(callback.type) && !credentials.contains(callback.output("prompt")?.string ?? "")
        }
    }

    /// The kind of the code for which the callback at an index asks; nil for another one.
    subscript(index: Int) -> Kind? { index == self.index ? kind : nil }
}

extension ServerTransaction {
    /// Returns the callbacks of a step that ask for a code.
    /// - Throws: `StoreError` when the state cannot be read.
    func codeFields(of step: JourneyStep) throws -> CodeFields {
        guard CodeFields.arePossible(in: step),
            let journey = try AuthID(step.authId, key: authIDKey).flatMap({ try journeys[$0.sessionId] }),
            let node = trees[journey.currentNode.tree]?.nodes[journey.currentNode.nodeID]?.node
        else { return .none }
        guard let page = node as? PageNode else { return CodeFields.Kind(node).map { CodeFields($0, at: 0, in: step) } ?? .none }
        guard let kind = page.last.flatMap({ CodeFields.Kind($0) }) else { return .none }
        let before = try page.callbacks(of: journey, self).reduce(0) { $0 + $1.count }
        return CodeFields(kind, at: before, in: step)
    }
}
