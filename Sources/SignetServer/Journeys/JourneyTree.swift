import SignetCore

/// A login journey: its nodes, and the target of each outcome of a node. It has the structure of AM's trees.
struct JourneyTree: Sendable {
    /// The name of the journey, used in `authIndexValue`.
    let name: String
    /// The id of the first node.
    let entry: String
    /// The nodes by id.
    let nodes: [String: JourneyNode]
    /// True when the journey can only run inside of other journeys.
    var isInner = false
    /// The realms that offer the journey; nil for all.
    var realms: Set<RealmPath>?

    init(_ name: String, entry: String, nodes: [String: JourneyNode]) {
        self.name = name
        self.entry = entry
        self.nodes = nodes
    }

    /// Returns true when a client can start the journey in a realm.
    func isOffered(in realm: RealmPath) -> Bool { !isInner && realms?.contains(realm) ?? true }
}

extension [String: JourneyTree] {
    /// Returns the names of the journeys that a client can start in a realm, in alphabetical order.
    func names(offeredIn realm: RealmPath) -> [String] { values.filter { $0.isOffered(in: realm) }.map(\.name).sorted() }
}

/// The location of a node. It contains the name of the tree, because node ids are unique only within a tree.
struct NodePath: Codable, Sendable, Hashable {
    var tree: String
    var nodeID: String
}

/// A node in a tree.
struct JourneyNode: Sendable {
    let node: any Node
    let outcomes: [NodeOutcome: NodeTarget]

    init(_ node: any Node, _ outcomes: [NodeOutcome: NodeTarget]) {
        self.node = node
        self.outcomes = outcomes
    }
}

/// The target of an outcome.
enum NodeTarget: Sendable, Hashable {
    case node(String)
    case success
    case failure
}

/// An outcome of a node, with the name that AM's configuration uses. The spelling differs between nodes, as in AM. Some nodes
/// have outcomes that the author of the journey names.
struct NodeOutcome: RawRepresentable, Sendable, Hashable {
    let rawValue: String

    init(rawValue: String) { self.rawValue = rawValue }
    init(_ name: String) { rawValue = name }

    static let outcome = NodeOutcome("outcome")
    static let isTrue = NodeOutcome("true")
    static let isFalse = NodeOutcome("false")

    // Outcomes of one-time codes and registrations.
    static let successOutcome = NodeOutcome("successOutcome")
    static let failureOutcome = NodeOutcome("failureOutcome")
    static let timeoutOutcome = NodeOutcome("timeoutOutcome")
    static let notRegisteredOutcome = NodeOutcome("notRegisteredOutcome")
    static let recoveryCodeOutcome = NodeOutcome("recoveryCodeOutcome")

    // Outcomes of push nodes.
    static let sent = NodeOutcome("SENT")
    static let skipped = NodeOutcome("SKIPPED")
    static let notRegistered = NodeOutcome("NOT_REGISTERED")
    static let done = NodeOutcome("DONE")
    static let exited = NodeOutcome("EXITED")
    static let spam = NodeOutcome("SPAM")
    static let approved = NodeOutcome("TRUE")
    static let denied = NodeOutcome("FALSE")
    static let expired = NodeOutcome("EXPIRED")
    static let waiting = NodeOutcome("WAITING")

    // Outcomes of nodes for keys on devices.
    static let success = NodeOutcome("success")
    static let failure = NodeOutcome("failure")
    static let unsupported = NodeOutcome("unsupported")
    static let error = NodeOutcome("error")
    static let noDevice = NodeOutcome("noDevice")
    static let noDeviceRegistered = NodeOutcome("noDeviceRegistered")
    static let keyNotFound = NodeOutcome("keyNotFound")
    static let exceedDeviceLimit = NodeOutcome("exceedDeviceLimit")
    static let recoveryCode = NodeOutcome("recoveryCode")
    static let unknownDevice = NodeOutcome("unknownDevice")

    // Outcomes of nodes for users.
    static let retry = NodeOutcome("Retry")
    static let reject = NodeOutcome("Reject")
    static let created = NodeOutcome("CREATED")
    static let patched = NodeOutcome("PATCHED")
    static let notWritten = NodeOutcome("FAILURE")
}

/// The behavior of a node. It is a value, and its properties are the settings that the author of a tree can change.
protocol Node: Sendable {
    /// The name of the node in AM, for example `PushWaitNode`.
    var name: String { get }
    /// The outcomes of the node, in the order of AM's documentation.
    var outcomes: [NodeOutcome] { get }
    /// The outcomes that AM's node has but this node never returns. A tree may define targets for them.
    var ignoredOutcomes: [NodeOutcome] { get }
    /// The way in which the node interacts with the user.
    var interaction: Interaction { get }
    /// Runs one visit of the node. The visit has no answers when the journey reaches the node. It has answers when the client has
    /// answered the callbacks that the node asked last.
    func process(_ visit: NodeInput, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> NodeResult
}

extension Node {
    var ignoredOutcomes: [NodeOutcome] { [] }
    var interaction: Interaction { .none }
}

/// The interaction of a node with the user, which determines if the node can be on a page with others.
enum Interaction: Sendable {
    case none
    /// The node asks in one step, so it can be the last one on a page.
    case embeddable
    /// The node needs a page of its own, because it waits or shows more than questions.
    case ownPage
}

/// The input of a visit.
struct NodeInput: Sendable {
    let answers: Answers?
    let moment: RequestTime
}

/// The next action that a node requests.
enum NodeResult: Sendable {
    /// Show the page and visit the node again with the answers.
    case prompt(Page)
    /// Continue with the target of the outcome.
    case transition(NodeOutcome)
    /// Run another journey. Its result becomes this node's outcome, `true` or `false`.
    case runInnerTree(String)
    /// Show the page, and continue when a client resumes the journey with the token.
    case suspend(Page, token: String)
    /// End the login. The reason is for the log.
    case fail(String)
    /// End the login with an error for the client.
    case refuse(APIError)
}

/// The contents of one step.
struct Page: Sendable {
    var callbacks: [JourneyCallback]
    var stage: String?
    var header: String?
    var description: String?
}
