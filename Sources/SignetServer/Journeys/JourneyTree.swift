import SignetCore

/// A login journey: its nodes, and the target of each outcome of a node.
///
/// It has the structure of AM's trees.
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
    /// A hash of the journey as it was written, by which a reload finds out that it has changed; 0 for one of a program.
    var fingerprint = 0
    /// The journey as it was written, in JSON; nil for one of a program.
    ///
    /// AM's configuration REST and exports are made of it (``TreeExport``).
    var source: JSONValue?

    init(_ name: String, entry: String, nodes: [String: JourneyNode]) {
        self.name = name
        self.entry = entry
        self.nodes = nodes
    }

    /// The journeys that nodes of this one run.
    var innerTrees: Set<String> { Set(nodes.values.compactMap(\.node.innerTree)) }

    /// Returns true when a client can start the journey in a realm.
    func isOffered(in realm: RealmPath) -> Bool { !isInner && realms?.contains(realm) ?? true }
}

extension [String: JourneyTree] {
    /// Returns the names of the journeys that a client can start in a realm, in alphabetical order.
    func names(offeredIn realm: RealmPath) -> [String] { values.filter { $0.isOffered(in: realm) }.map(\.name).sorted() }
}

/// The location of a node.
///
/// It contains the name of the tree, because node ids are unique only within a tree.
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

/// An outcome of a node, with the name that AM's configuration uses.
///
/// The spelling differs between nodes, as in AM. Some nodes have outcomes that the author of the journey names.
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
    static let locked = NodeOutcome("LOCKED")
    static let cancelled = NodeOutcome("CANCELLED")
    static let emailSent = NodeOutcome("EMAIL_SENT")
    static let emailNotSent = NodeOutcome("EMAIL_NOT_SENT")
    static let socialAuthentication = NodeOutcome("socialAuthentication")
    static let localAuthentication = NodeOutcome("localAuthentication")
}
