import SignetCore

/// A part of a step that the user or the app answers.
///
/// A step and its parts belong to the task that has the step. They are not Sendable.
public protocol Action {}

/// A part of a step that holds resources until the step is answered.
public protocol Closeable {
    /// Releases the resources.
    func close()
}

/// A state of a workflow: ``ContinueNode``, ``SuccessNode``, ``ErrorNode`` or ``FailureNode``.
public protocol Node {}

/// The state of a workflow that has no module for the responses of its server.
public struct EmptyNode: Node, Sendable {
    /// Creates the state.
    public init() {}
}

/// The state after an error that the server didn't report, for example of the network.
public struct FailureNode: Node, Sendable {
    /// The error.
    public let cause: any Error

    /// Creates the state after an error.
    public init(cause: any Error) {
        self.cause = cause
    }
}

/// The state after an error that the server reported.
public struct ErrorNode: Node, Sendable {
    /// The message of the server.
    public let message: String
    /// The HTTP status of the response.
    public let status: Int?
    /// The context of the run.
    public let context: FlowContext
    private let members: [String: JSONValue]

    /// The members of the response.
    public var input: [String: Any] { members.mapValues(\.any) }

    /// Creates the state.
    ///
    /// Members of `input` that JSON can't express are left out.
    public init(status: Int? = nil, input: [String: Any] = [:], message: String = "", context: FlowContext) {
        self.status = status
        self.message = message
        self.context = context
        members = input.compactMapValues { JSONValue(any: $0) }
    }
}

/// The state at the end of a workflow that succeeded.
public struct SuccessNode: Node, Sendable {
    /// The session, which is empty when none was requested.
    public let session: any Session
    private let members: [String: JSONValue]

    /// The members of the response.
    public var input: [String: Any] { members.mapValues(\.any) }

    /// Creates the state.
    ///
    /// Members of `input` that JSON can't express are left out.
    public init(input: [String: Any] = [:], session: any Session) {
        self.session = session
        members = input.compactMapValues { JSONValue(any: $0) }
    }
}

/// A step of a workflow that waits for an answer.
open class ContinueNode: Node, Closeable {
    /// The context of the run.
    public final let context: FlowContext
    /// The workflow.
    public final let workflow: Workflow
    /// The members of the response.
    public final let input: [String: Any]
    /// The parts of the step.
    public final let actions: [any Action]

    /// Creates a step.
    public init(context: FlowContext, workflow: Workflow, input: [String: Any], actions: [any Action]) {
        self.context = context
        self.workflow = workflow
        self.input = input
        self.actions = actions
    }

    /// Returns the request with the answer to the step.
    ///
    /// A subclass overrides it.
    open func asRequest() -> Request { Request() }

    /// Sends the answer to the step and returns the next state.
    public final func next() async -> any Node {
        await workflow.next(context, self)
    }

    /// Releases the resources of the parts of the step.
    public final func close() {
        for case let part as any Closeable in actions { part.close() }
    }
}

/// A value that modules attach to the step that contains it.
public protocol ContinueNodeAware {
    /// The step.
    var continueNode: ContinueNode? { get set }
}

/// A session of the user at a server.
public protocol Session: Sendable {
    /// The value that identifies the session.
    var value: String { get }
}

/// A session without a value.
public struct EmptySession: Session {
    /// The value, which is empty at first.
    public var value: String = ""

    /// Creates an empty session.
    public init() {}
}
