import SignetCore

/// A login journey: nodes, and where each outcome of a node leads. AM's trees have the same shape.
struct JourneyTree: Sendable {
    /// The name that `authIndexValue` asks for.
    let name: String
    /// The id of the first node.
    let entry: String
    /// The nodes by id.
    let nodes: [String: JourneyNode]
    /// Whether it is only a part of other journeys.
    var isInner = false
    /// The realms that have it; nil for all.
    var realms: Set<RealmPath>?

    init(_ name: String, entry: String, nodes: [String: JourneyNode]) {
        self.name = name
        self.entry = entry
        self.nodes = nodes
    }

    /// Whether somebody can begin it in a realm.
    func isOffered(in realm: RealmPath) -> Bool { !isInner && realms?.contains(realm) ?? true }
}

extension [String: JourneyTree] {
    /// Those that somebody can begin in a realm, in the order of the alphabet.
    func names(offeredIn realm: RealmPath) -> [String] { values.filter { $0.isOffered(in: realm) }.map(\.name).sorted() }
}

/// A node's place: two journeys may each have their `password`.
struct NodePath: Codable, Sendable, Hashable {
    var tree: String
    var nodeID: String
}

/// A node in a tree.
struct JourneyNode: Sendable {
    let kind: any NodeKind
    let outcomes: [NodeOutcome: NodeTarget]

    init(_ kind: any NodeKind, _ outcomes: [NodeOutcome: NodeTarget]) {
        self.kind = kind
        self.outcomes = outcomes
    }
}

/// Where an outcome leads.
enum NodeTarget: Sendable, Hashable {
    case node(String)
    case success
    case failure
}

/// The outcomes of AM's nodes, by the names that its configuration gives them: no two nodes' makers wrote them alike. A node whose
/// author names the outcomes has others.
struct NodeOutcome: RawRepresentable, Sendable, Hashable {
    let rawValue: String

    init(rawValue: String) { self.rawValue = rawValue }
    init(_ name: String) { rawValue = name }

    static let outcome = NodeOutcome("outcome")
    static let isTrue = NodeOutcome("true")
    static let isFalse = NodeOutcome("false")

    // Codes and registrations.
    static let successOutcome = NodeOutcome("successOutcome")
    static let failureOutcome = NodeOutcome("failureOutcome")
    static let timeoutOutcome = NodeOutcome("timeoutOutcome")
    static let notRegisteredOutcome = NodeOutcome("notRegisteredOutcome")
    static let recoveryCodeOutcome = NodeOutcome("recoveryCodeOutcome")

    // Push.
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

    // Keys on devices.
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

    // People.
    static let retry = NodeOutcome("Retry")
    static let reject = NodeOutcome("Reject")
    static let created = NodeOutcome("CREATED")
    static let patched = NodeOutcome("PATCHED")
    static let notWritten = NodeOutcome("FAILURE")
}

/// What a node does. A kind is a value: its properties are what a tree's author can set.
protocol NodeKind: Sendable {
    /// AM's name of the node, for example `PushWaitNode`.
    var name: String { get }
    /// Every outcome the node can have, in the order of its documentation.
    var outcomes: [NodeOutcome] { get }
    /// Those that AM's node has and this one never comes to: a tree may lead them somewhere or not.
    var spareOutcomes: [NodeOutcome] { get }
    /// How the node asks a person.
    var asking: NodeInteraction { get }
    /// One visit: without answers when the journey comes to the node, with answers when the client has filled in what the node
    /// asked for last.
    func process(_ visit: NodeInput, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> NodeResult
}

extension NodeKind {
    var spareOutcomes: [NodeOutcome] { [] }
    var asking: NodeInteraction { .nothing }
}

/// Whether a node asks a person something, and what room it needs for that.
enum NodeInteraction: Sendable {
    case nothing
    /// In one step, so that it can be the last on a page.
    case once
    /// On a page of its own: it waits, or has more to show than questions.
    case alone
}

/// What a node is told on a visit.
struct NodeInput: Sendable {
    let answers: Answers?
    let moment: RequestTime
}

/// What a node wants to happen next.
enum NodeResult: Sendable {
    /// Show this and come back with the answers.
    case ask(Page)
    /// Go on to where the outcome leads.
    case leave(NodeOutcome)
    /// Walk another journey, and come back with `true` or `false`.
    case enter(String)
    /// Show this, and go on when somebody comes with the token.
    case suspend(Page, token: String)
    /// End the login; the reason is for the log.
    case fail(String)
    /// End the login, and say why.
    case refuse(APIError)
}

/// What a node shows at once.
struct Page: Sendable {
    var callbacks: [JourneyCallback]
    var stage: String?
    var header: String?
    var description: String?
}
