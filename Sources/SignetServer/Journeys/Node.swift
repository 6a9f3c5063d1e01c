import SignetCore

/// A node of a journey: its type, its outcomes and its behavior.
///
/// It is a value, and its properties are the settings that the author of a journey can change.
protocol Node: Sendable {
    /// The type of the node in a configuration file, with its name in AM.
    static var type: NodeType { get }
    /// The outcomes of the node, in the order of AM's documentation.
    var outcomes: [NodeOutcome] { get }
    /// The outcomes that AM's node has but this node never returns. A tree may define targets for them.
    var ignoredOutcomes: [NodeOutcome] { get }
    /// False when ``outcomes`` may differ from those that the file intends, because a part of the node could not be read.
    var hasKnownOutcomes: Bool { get }
    /// The outcomes that the node has again when the journey returns to it in the same request.
    ///
    /// A node has such outcomes when it asks nothing, and changes nothing that it decides by. When one of them leads to the node
    /// itself, the journey cannot end.
    var repeatedOutcomes: [NodeOutcome] { get }
    /// The way in which the node interacts with the user.
    var interaction: Interaction { get }
    /// The inner journey that the node runs; nil for other nodes.
    var innerTree: String? { get }
    /// The end of the journey that the node itself is; nil for other nodes. Its only outcome leads there.
    var end: NodeTarget? { get }
    /// Runs one visit of the node.
    /// - Parameters:
    ///   - answers: The client's answers to the callbacks that the node asked last; nil when the journey reaches the node.
    ///   - journey: The state of the journey.
    ///   - tx: The state of the server.
    /// - Returns: The callbacks to send, or the outcome of the node.
    /// - Throws: The error of a row that cannot be read, or of the store. A refusal is a result.
    func process(_ answers: Answers?, _ journey: inout JourneyState, _ tx: inout ServerTransaction) throws -> NodeResult
}

extension Node {
    var ignoredOutcomes: [NodeOutcome] { [] }
    var hasKnownOutcomes: Bool { true }
    var repeatedOutcomes: [NodeOutcome] { [] }
    var interaction: Interaction { .none }
    var innerTree: String? { nil }
    var end: NodeTarget? { nil }

    /// The type of the node in a configuration file, with its name in AM.
    var type: NodeType { Self.type }
}

/// The interaction of a node with the user, which determines if the node can be on a page with others.
enum Interaction: Sendable {
    case none
    /// The node asks in one step, so it can be the last one on a page, and with one outcome anywhere on it.
    case embeddable
    /// The node needs a page of its own, because it waits or shows more than questions.
    case ownPage
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

/// A node that asks the user for one thing, like AM's collector nodes.
///
/// It has one outcome, and it can be anywhere on a page.
protocol Collector: Node {
    /// Returns the callbacks to show. They are the same in each call until the collector has taken an answer.
    /// - Throws: The error of a row that cannot be read, or of the store.
    func callbacks(_ journey: JourneyState, _ tx: ServerTransaction) throws -> [JourneyCallback]
    /// Takes the client's answers. Index 0 is the answer to the first callback of this collector.
    /// - Throws: The error of a row that cannot be read, or of the store.
    func take(_ answers: Answers, _ journey: inout JourneyState, _ tx: inout ServerTransaction) throws -> CollectorResult
}

extension Collector {
    var outcomes: [NodeOutcome] { [.outcome] }
    var interaction: Interaction { .embeddable }

    /// Runs the collector on a page of its own.
    func process(_ answers: Answers?, _ journey: inout JourneyState, _ tx: inout ServerTransaction) throws -> NodeResult {
        try PageNode(self).process(answers, &journey, &tx)
    }
}

/// The result of an answer.
enum CollectorResult: Sendable {
    case accepted
    /// The answer is not valid, or was only to be validated. These callbacks are shown instead.
    case retry([JourneyCallback])
    /// The login ends with this error.
    case refuse(APIError)
}
