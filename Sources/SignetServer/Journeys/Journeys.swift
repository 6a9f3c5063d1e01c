/// The journeys of a server: trees of nodes with named outcomes (docs/reference/configuration.md).
public struct Journeys: Sendable {
    let trees: [JourneyTree]
    /// The error that prevented the journeys from being read.
    ///
    /// A server with such journeys throws it when it starts.
    let defect: ConfigurationError?

    init(_ trees: [JourneyTree]) {
        self.trees = trees
        defect = nil
    }

    /// Creates journeys that could not be read.
    init(defect: ConfigurationError) {
        trees = []
        self.defect = defect
    }

    /// The journeys of the starter file.
    public static var starter: Journeys { Starter.configuration.journeys }

    /// The names of the journeys that clients can start, in the order of the file.
    ///
    /// The other journeys are parts of them.
    public var names: [String] { trees.filter { !$0.isInner }.map(\.name) }
}

extension [JourneyTree] {
    /// The trees by name.
    ///
    /// If several have the same name, the last one is used.
    var byName: [String: JourneyTree] { Dictionary(map { ($0.name, $0) }, uniquingKeysWith: { _, last in last }) }
}
