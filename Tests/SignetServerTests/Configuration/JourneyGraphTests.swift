import Testing

@testable import SignetServer

@Suite("Graphs of nodes and journeys")
struct JourneyGraphTests {
    /// The graph a -> b -> c -> b, d -> c.
    private static let graph: JourneyGraph = {
        var graph = JourneyGraph()
        for (name, target) in [("a", "b"), ("b", "c"), ("c", "b"), ("d", "c")] { graph.connect(name, to: target) }
        return graph
    }()

    @Test("Reachable names include the starts and unknown names, and the search ends in a cycle")
    func findsReachableNames() {
        #expect(Self.graph.reachable(from: []) == [])
        #expect(Self.graph.reachable(from: ["a"]) == ["a", "b", "c"])
        #expect(Self.graph.reachable(from: ["d", "x"]) == ["b", "c", "d", "x"])
        #expect(Self.graph.reversed.reachable(from: ["b"]) == ["a", "b", "c", "d"])
        #expect(Self.graph.reversed.reversed.targets == Self.graph.targets)
    }

    @Test(
        "Only names that can reach themselves are on a cycle",
        arguments: [("a", false), ("b", true), ("c", true), ("x", false)])
    func findsNamesOnCycle(name: String, isOnCycle: Bool) {
        #expect(Self.graph.isOnCycle(name) == isOnCycle)
    }

    @Test("Each node type has a unique name")
    func nodeTypeNamesAreUnique() {
        let names = NodeType.all.map(\.name)
        #expect(Set(names).count == names.count)
    }
}
