/// The journeys of a server: trees of nodes with named outcomes, as docs/configuration.md describes them.
public struct Journeys: Sendable {
    let trees: [JourneyTree]
    /// Why there are none though there should be: what a server says when it is to start with them.
    let defect: ConfigurationError?

    init(_ trees: [JourneyTree]) {
        self.trees = trees
        defect = nil
    }

    /// Journeys that could not be read.
    init(defect: ConfigurationError) {
        trees = []
        self.defect = defect
    }

    /// The journeys of the starter file.
    public static var starter: Journeys { Starter.configuration.journeys }

    /// The names of those that somebody can begin, in the order of the file. Others are parts of them.
    public var names: [String] { trees.filter { !$0.isInner }.map(\.name) }
}

extension [JourneyTree] {
    /// Of trees with the same name the last one counts.
    var byName: [String: JourneyTree] { Dictionary(map { ($0.name, $0) }, uniquingKeysWith: { _, last in last }) }
}
