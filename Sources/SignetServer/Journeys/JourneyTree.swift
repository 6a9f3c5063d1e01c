import SignetCore

/// A login journey: nodes, and where each outcome of a node leads. AM's trees have the same shape.
struct JourneyTree: Sendable {
    /// The name that `authIndexValue` asks for.
    let name: String
    /// The id of the first node.
    let entry: String
    /// The nodes by id.
    let nodes: [String: JourneyNode]

    init(_ name: String, entry: String, nodes: [String: JourneyNode]) {
        self.name = name
        self.entry = entry
        self.nodes = nodes
    }

    /// What is wrong with the tree, in words: a target that does not exist, or an outcome that leads nowhere.
    var problems: [String] {
        var problems = nodes[entry] == nil ? ["the entry \(entry) is no node"] : []
        for (id, node) in nodes {
            for outcome in node.kind.outcomes where node.outcomes[outcome] == nil {
                problems.append("\(id): the outcome \(outcome.rawValue) leads nowhere")
            }
            for (outcome, target) in node.outcomes {
                if !node.kind.outcomes.contains(outcome) {
                    problems.append("\(id): \(node.kind.name) has no outcome \(outcome.rawValue)")
                }
                if case .node(let next) = target, nodes[next] == nil {
                    problems.append("\(id): \(outcome.rawValue) leads to \(next), no node")
                }
            }
        }
        return problems.sorted()
    }
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

/// The outcomes of AM's nodes, by the names its documentation gives them. A node whose author names the outcomes has others.
struct NodeOutcome: RawRepresentable, Sendable, Hashable {
    let rawValue: String

    init(rawValue: String) { self.rawValue = rawValue }
    init(_ name: String) { rawValue = name }

    static let outcome = NodeOutcome("Outcome")
    static let isTrue = NodeOutcome("True")
    static let isFalse = NodeOutcome("False")
    static let success = NodeOutcome("Success")
    static let failure = NodeOutcome("Failure")
    static let timeOut = NodeOutcome("Time Out")
    static let sent = NodeOutcome("Sent")
    static let notRegistered = NodeOutcome("Not Registered")
    static let done = NodeOutcome("Done")
    static let exited = NodeOutcome("Exited")
    static let expired = NodeOutcome("Expired")
    static let waiting = NodeOutcome("Waiting")
    static let retry = NodeOutcome("Retry")
    static let reject = NodeOutcome("Reject")
    static let abort = NodeOutcome("Abort")
    static let unsupported = NodeOutcome("Unsupported")
}

/// What a node does. A kind is a value: its properties are what a tree's author can set.
protocol NodeKind: Sendable {
    /// AM's name of the node, for example `PushWaitNode`.
    var name: String { get }
    /// Every outcome the node can have.
    var outcomes: Set<NodeOutcome> { get }
    /// One visit: without answers when the journey comes to the node, with answers when the client has filled in what the node
    /// asked for last.
    func process(_ visit: NodeVisit, _ journey: inout JourneyState, _ desk: inout DeskState) -> NodeAction
}

/// What a node is told on a visit.
struct NodeVisit: Sendable {
    let nodeID: String
    let answers: Answers?
    let moment: Moment
}

/// What a node wants to happen next.
enum NodeAction: Sendable {
    /// Show this and come back with the answers.
    case ask(Page)
    /// Go on to where the outcome leads.
    case leave(NodeOutcome)
    /// Show this, and go on when somebody comes with the token.
    case suspend(Page, token: String)
    /// End the login; the reason is for the log.
    case fail(String)
    /// End the login, and say why.
    case refuse(Refusal)
}

/// What a node shows at once.
struct Page: Sendable {
    var callbacks: [JourneyCallback]
    var stage: String?
    var header: String?
    var description: String?
}
