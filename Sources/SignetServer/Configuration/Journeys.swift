/// The journeys of a server: trees of nodes with named outcomes, as docs/configuration.md describes them.
public struct Journeys: Sendable {
    let trees: [JourneyTree]

    init(_ trees: [JourneyTree]) {
        self.trees = trees
    }

    /// The journeys of the starter file.
    public static var starter: Journeys { Starter.configuration.journeys }

    /// The names of those that somebody can begin, in the order of the file. Others are parts of them.
    public var names: [String] { trees.filter { !$0.isInner }.map(\.name) }
}
