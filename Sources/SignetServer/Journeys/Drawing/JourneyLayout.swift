/// The places of the nodes of a journey in a picture, in layers from left to right.
///
/// A node is one layer to the right of the last node that leads to it, except for connections that go back. Each node has ends of
/// its own for success and failure, so that no lines lead through the whole picture.
struct JourneyLayout: Sendable {
    /// A box of the picture.
    struct Box: Sendable, Hashable {
        /// The id of the node, or of an end: `success` or `failure` with the node that leads there.
        let id: String
        let content: Content
        var x = 0
        var y = 0
        var width = 0
        var height = 0

        enum Content: Sendable, Hashable {
            case node(type: String, isEntry: Bool)
            case success
            case failure
        }
    }

    /// A line of the picture.
    struct Line: Sendable, Hashable {
        let from: String
        let to: String
        /// The names of the outcomes, in alphabetical order.
        var outcomes: [String]
        /// True for a line to a node that is not to the right.
        var goesBack = false
    }

    private(set) var boxes: [Box] = []
    private(set) var lines: [Line] = []
    private(set) var width = 0
    private(set) var height = 0

    // Sizes in units of the picture.
    private static let nodeWidth = 190
    private static let nodeHeight = 48
    private static let endWidth = 76
    private static let endHeight = 26
    private static let lineHeight = 18
    private static let columnGap = 132
    private static let rowGap = 22
    static let margin = 48

    init(_ tree: JourneyTree) {
        var layers = JourneyLayers(tree)
        layers.sort()
        lines = layers.lines
        let lineCounts = Dictionary(lines.map { ($0.from, 1) }, uniquingKeysWith: +)
        var columns: [[Box]] = layers.names.map { names in
            names.map { name in
                var box = Box(id: name, content: layers.content(of: name, in: tree))
                if case .node = box.content {
                    box.width = Self.nodeWidth
                    box.height = max(Self.nodeHeight, Self.lineHeight * lineCounts[name, default: 0] + 12)
                } else {
                    (box.width, box.height) = (Self.endWidth, Self.endHeight)
                }
                return box
            }
        }
        let heights = columns.map { $0.reduce(-Self.rowGap) { $0 + $1.height + Self.rowGap } }
        let tallest = max(0, heights.max() ?? 0)
        // A line that goes back runs below its two nodes.
        let space = lines.contains(where: \.goesBack) ? Self.rowGap * 2 : 0
        for column in columns.indices {
            var y = Self.margin + (tallest - heights[column]) / 2
            for row in columns[column].indices {
                columns[column][row].x = Self.margin + column * (Self.nodeWidth + Self.columnGap)
                columns[column][row].y = y
                y += columns[column][row].height + Self.rowGap
            }
        }
        boxes = columns.flatMap(\.self)
        // The lines of a node begin in the order of their ends, so that fewer of them cross.
        let middles = Dictionary(boxes.map { ($0.id, $0.y + $0.height / 2) }, uniquingKeysWith: { first, _ in first })
        lines.sort { first, second in
            (first.from, first.goesBack ? 1 : 0, middles[first.to, default: 0], first.to)
                < (second.from, second.goesBack ? 1 : 0, middles[second.to, default: 0], second.to)
        }
        width = (boxes.map { $0.x + $0.width }.max() ?? 0) + Self.margin
        height = tallest + 2 * Self.margin + space
    }
}

/// The nodes of a journey by layer.
private struct JourneyLayers {
    private(set) var lines: [JourneyLayout.Line]
    /// The ids in each layer, from top to bottom.
    private(set) var names: [[String]]

    init(_ tree: JourneyTree) {
        lines = Self.lines(of: tree)
        let order = Self.order(of: tree, &lines)
        var layer: [String: Int] = [:]
        // The order is topological for the lines that do not go back.
        let next = Dictionary(grouping: lines.filter { !$0.goesBack }, by: \.from)
        for name in order {
            let own = layer[name, default: 0]
            layer[name] = own
            for line in next[name] ?? [] { layer[line.to] = max(layer[line.to, default: 0], own + 1) }
        }
        names = Array(repeating: [], count: (layer.values.max() ?? -1) + 1)
        var placed: Set<String> = []
        for name in order + lines.map(\.to) where placed.insert(name).inserted { names[layer[name, default: 0]].append(name) }
    }

    func content(of name: String, in tree: JourneyTree) -> JourneyLayout.Box.Content {
        if let node = tree.nodes[name] { return .node(type: node.node.type.name, isEntry: name == tree.entry) }
        return name.hasPrefix("success ") ? .success : .failure
    }

    /// Orders each layer by the middle of the nodes that lead to it, and then by the middle of those that it leads to.
    mutating func sort() {
        let sources = Dictionary(grouping: lines, by: \.to).mapValues { $0.map(\.from) }
        let targets = Dictionary(grouping: lines, by: \.from).mapValues { $0.map(\.to) }
        for round in 0..<4 {
            let neighbors = round.isMultiple(of: 2) ? sources : targets
            var row: [String: Double] = [:]
            for layer in names { for (index, name) in layer.enumerated() { row[name] = Double(index) } }
            let layers = round.isMultiple(of: 2) ? Array(names.indices) : names.indices.reversed()
            for layer in layers {
                let middles = names[layer].map { name -> Double in
                    let rows = (neighbors[name] ?? []).compactMap { row[$0] }
                    return rows.isEmpty ? row[name] ?? 0 : rows.reduce(0, +) / Double(rows.count)
                }
                names[layer] = names[layer].indices.sorted { (middles[$0], $0) < (middles[$1], $1) }.map { names[layer][$0] }
                for (index, name) in names[layer].enumerated() { row[name] = Double(index) }
            }
        }
    }

    private static func lines(of tree: JourneyTree) -> [JourneyLayout.Line] {
        tree.nodes.sorted { $0.key < $1.key }.flatMap { id, node in
            var lines: [JourneyLayout.Line] = []
            for (outcome, target) in node.outcomes.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
                let to =
                    switch target {
                    case .node(let next): next
                    case .success: "success \(id)"
                    case .failure: "failure \(id)"
                    }
                if let index = lines.firstIndex(where: { $0.to == to }) {
                    lines[index].outcomes.append(outcome.rawValue)
                } else {
                    lines.append(JourneyLayout.Line(from: id, to: to, outcomes: [outcome.rawValue]))
                }
            }
            return lines
        }
    }

    /// Returns the nodes in an order in which each line that does not go back leads to a later one, and marks those that go back.
    private static func order(of tree: JourneyTree, _ lines: inout [JourneyLayout.Line]) -> [String] {
        let next = Dictionary(grouping: lines.indices, by: { lines[$0].from })
        var (finished, open): (Set<String>, Set<String>) = ([], [])
        var order: [String] = []
        for start in [tree.entry] + tree.nodes.keys.sorted() where tree.nodes[start] != nil && !finished.contains(start) {
            var stack = [(name: start, rest: (next[start] ?? [])[...])]
            open.insert(start)
            while let (name, rest) = stack.last {
                guard let line = rest.first else {
                    stack.removeLast()
                    open.remove(name)
                    finished.insert(name)
                    order.append(name)
                    continue
                }
                stack[stack.count - 1].rest = rest.dropFirst()
                let to = lines[line].to
                if open.contains(to) {
                    lines[line].goesBack = true
                } else if tree.nodes[to] != nil, !finished.contains(to) {
                    open.insert(to)
                    stack.append((to, (next[to] ?? [])[...]))
                }
            }
        }
        return order.reversed()
    }
}
