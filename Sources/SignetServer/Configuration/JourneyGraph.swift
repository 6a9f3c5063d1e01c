/// A directed graph of names: the nodes of a journey with the targets of their outcomes, or journeys with their inner journeys.
struct JourneyGraph: Sendable, Hashable {
    /// The targets of each name.
    private(set) var targets: [String: [String]] = [:]

    /// Adds a connection.
    mutating func connect(_ name: String, to target: String) { targets[name, default: []].append(target) }

    /// The graph with the direction of each connection reversed.
    var reversed: JourneyGraph {
        var reversed = JourneyGraph()
        for (name, targets) in targets {
            for target in targets { reversed.connect(target, to: name) }
        }
        return reversed
    }

    /// Returns everything that can be reached from the starts, including the starts.
    func reachable(from starts: [String]) -> Set<String> {
        var reached: Set<String> = []
        var open = starts
        while let next = open.popLast() {
            if reached.insert(next).inserted { open += targets[next] ?? [] }
        }
        return reached
    }

    /// Returns true when a name can be reached from itself.
    func isOnCycle(_ name: String) -> Bool { reachable(from: targets[name] ?? []).contains(name) }
}
