/// Makes the steps of a regular expression.
struct ScriptPatternCompiler {
    /// The greatest number of steps, and of parts with their repetitions.
    private static let maxSteps = 4000
    private static let maxPositions = 40

    private let line: Int
    private(set) var steps: [ScriptPattern.Step] = []
    private(set) var positionCount: Int
    private var parts = 0

    init(groupCount: Int, line: Int) {
        positionCount = 2 * (groupCount + 1)
        self.line = line
    }

    /// Makes the steps of a whole regular expression.
    /// - Throws: ``ScriptError/unsupported(_:line:)`` when there are too many.
    mutating func compile(_ node: ScriptPatternNode) throws(ScriptError) {
        steps.append(.save(0))
        try add(node)
        steps += [.save(1), .accept]
    }

    private mutating func add(_ node: ScriptPatternNode) throws(ScriptError) {
        parts += 1
        guard parts <= Self.maxSteps, steps.count <= Self.maxSteps, positionCount <= Self.maxPositions else {
            throw .unsupported("a regular expression with too many repetitions", line: line)
        }
        switch node {
        case .take(let set): steps.append(.take(set))
        case .start: steps.append(.start)
        case .end: steps.append(.end)
        case .boundary(let isWanted): steps.append(.boundary(isWanted))
        case .reference(let group): steps.append(.reference(group))
        case .sequence(let nodes): for node in nodes { try add(node) }
        case .choice(let nodes): try addChoice(nodes)
        case .group(let node, nil): try add(node)
        case .group(let node, let number?):
            steps.append(.save(2 * number))
            try add(node)
            steps.append(.save(2 * number + 1))
        case .look(let node, let isWanted):
            let index = steps.count
            steps.append(.accept)
            try add(node)
            steps.append(.accept)
            steps[index] = .look(end: steps.count, isWanted: isWanted)
        case .repeated(let node, let least, let most, let isLazy, let groups):
            for _ in 0..<least { try addIteration(node, groups) }
            guard let most else { return try addLoop(node, isLazy, groups) }
            try addOptions(node, most - least, isLazy, groups)
        }
    }

    private mutating func addChoice(_ nodes: [ScriptPatternNode]) throws(ScriptError) {
        var jumps: [Int] = []
        for node in nodes.dropLast() {
            let split = steps.count
            steps.append(.accept)
            try add(node)
            jumps.append(steps.count)
            steps.append(.accept)
            steps[split] = .split(split + 1, steps.count)
        }
        if let last = nodes.last { try add(last) }
        for jump in jumps { steps[jump] = .jump(steps.count) }
    }

    /// Adds one iteration of a repetition, in which the groups are empty at first.
    private mutating func addIteration(_ node: ScriptPatternNode, _ groups: Range<Int>) throws(ScriptError) {
        if !groups.isEmpty { steps.append(.clear(2 * groups.lowerBound..<2 * groups.upperBound)) }
        try add(node)
    }

    private mutating func addLoop(_ node: ScriptPatternNode, _ isLazy: Bool, _ groups: Range<Int>) throws(ScriptError) {
        let position = positionCount
        positionCount += 1
        let split = steps.count
        steps += [.accept, .save(position)]
        try addIteration(node, groups)
        steps += [.progress(position), .jump(split)]
        steps[split] = isLazy ? .split(steps.count, split + 1) : .split(split + 1, steps.count)
    }

    private mutating func addOptions(
        _ node: ScriptPatternNode, _ count: Int, _ isLazy: Bool, _ groups: Range<Int>
    ) throws(ScriptError) {
        var splits: [Int] = []
        let position = positionCount
        if count > 0 { positionCount += 1 }
        for _ in 0..<count {
            splits.append(steps.count)
            steps += [.accept, .save(position)]
            try addIteration(node, groups)
            steps.append(.progress(position))
        }
        for split in splits { steps[split] = isLazy ? .split(steps.count, split + 1) : .split(split + 1, steps.count) }
    }
}
