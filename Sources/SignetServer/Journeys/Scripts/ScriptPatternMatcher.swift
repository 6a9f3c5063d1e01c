/// Searches a text for a regular expression.
///
/// It tries one way after the other, with a list of those that are left in place of recursion. Their number and the number of steps
/// are limited, because some expressions have a number of ways that grows exponentially with the text.
struct ScriptPatternMatcher {
    /// The greatest number of steps of all searches of a script.
    static let maxSteps = 200_000
    private static let maxWays = 20_000

    /// A way that is left: an index of a step, a position in the text, and the stored positions.
    private struct Way {
        var index: Int
        var position: Int
        var stored: [Int]
    }

    /// The match of a regular expression: the positions of its start and end, and of those of the groups; -1 for a group without a
    /// match.
    struct Match {
        let stored: [Int]
        var range: Range<Int> { stored[0]..<stored[1] }

        /// Returns the positions of a group; nil for a group without a match.
        func group(_ number: Int) -> Range<Int>? {
            let (start, end) = (stored[2 * number], stored[2 * number + 1])
            return start >= 0 && end >= start ? start..<end : nil
        }
    }

    private let pattern: ScriptPattern
    /// The text.
    let text: [Unicode.Scalar]
    /// The number of steps that are left.
    private(set) var steps: Int

    init(_ pattern: ScriptPattern, _ text: String, steps: Int) {
        self.pattern = pattern
        self.text = Array(text.unicodeScalars)
        self.steps = steps
    }

    /// Returns the first match at a position or after it; nil without one.
    /// - Throws: ``ScriptError/tooLarge``.
    mutating func match(from position: Int) throws(ScriptError) -> Match? {
        guard position <= text.count else { return nil }
        for start in max(0, position)...text.count {
            let way = Way(index: 0, position: start, stored: Array(repeating: -1, count: pattern.positionCount))
            if let stored = try run(way) { return Match(stored: stored) }
        }
        return nil
    }

    /// Follows a way and those that it opens to the first that matches, and returns its stored positions.
    private mutating func run(_ first: Way) throws(ScriptError) -> [Int]? {
        var ways: [Way] = []
        var way = first
        while true {
            steps -= 1
            guard steps > 0, ways.count <= Self.maxWays else { throw .tooLarge }
            let step = pattern.steps[way.index]
            way.index += 1
            var isGood = true
            switch step {
            case .accept: return way.stored
            case .jump(let index): way.index = index
            case .split(let index, let other):
                ways.append(Way(index: other, position: way.position, stored: way.stored))
                way.index = index
            case .save(let slot): way.stored[slot] = way.position
            case .clear(let slots): for slot in slots { way.stored[slot] = -1 }
            case .look(let end, let isWanted):
                let found = try run(way)
                isGood = (found != nil) == isWanted
                if isWanted, let found { way.stored = found }
                way.index = end
            case .take(let set):
                steps -= set.items.count / 8
                isGood = way.position < text.count && set.contains(text[way.position], ignoringCase: pattern.flags.ignoresCase)
                if isGood { way.position += 1 }
            case .reference(let group): isGood = takeAgain(group, &way)
            case .progress, .start, .end, .boundary: isGood = holds(step, way)
            }
            if isGood { continue }
            guard let next = ways.popLast() else { return nil }
            way = next
        }
    }

    /// Returns true when a condition holds that takes no character.
    private func holds(_ step: ScriptPattern.Step, _ way: Way) -> Bool {
        let position = way.position
        switch step {
        case .progress(let slot): return way.stored[slot] != position
        case .start: return position == 0 || (pattern.flags.isMultiline && text[position - 1].endsLine)
        case .end: return position == text.count || (pattern.flags.isMultiline && text[position].endsLine)
        case .boundary(let isWanted):
            let before = position > 0 && text[position - 1].isWordCharacter
            let after = position < text.count && text[position].isWordCharacter
            return (before != after) == isWanted
        default: return true
        }
    }

    /// Takes the text of a group once more; true when it is there, or when the group is empty.
    private mutating func takeAgain(_ group: Int, _ way: inout Way) -> Bool {
        let (start, end) = (way.stored[2 * group], way.stored[2 * group + 1])
        guard start >= 0, end > start else { return true }
        steps -= end - start
        guard way.position + end - start <= text.count else { return false }
        for offset in 0..<end - start {
            let (one, other) = (text[start + offset], text[way.position + offset])
            let isSame = pattern.flags.ignoresCase ? one.variants.contains(other) || other.variants.contains(one) : one == other
            guard isSame else { return false }
        }
        way.position += end - start
        return true
    }

    /// Returns a part of the text.
    func text(_ range: Range<Int>) -> String { String(String.UnicodeScalarView(text[range])) }
}
