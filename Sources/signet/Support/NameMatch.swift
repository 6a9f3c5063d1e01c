/// The similarity of a typed text to a name, the highest first.
///
/// It is a pure value: `signet code`, `signet show`, `signet codes` and the list at the terminal all use these rules.
enum NameMatch: Int, Comparable, CaseIterable, Sendable {
    /// The name is the text.
    case exact
    /// The name is the text in another case.
    case sameLetters
    /// A word of the name begins with the text: `bank` or `harbor b` in `Harbor Bank`.
    case wordStart
    /// The name contains the text.
    case part
    /// The name contains the characters of the text in this order, with others between them.
    case subsequence

    /// True when the text is only similar to the name, so that the user has to confirm it.
    var isFuzzy: Bool { self > .sameLetters }

    static func < (left: NameMatch, right: NameMatch) -> Bool { left.rawValue < right.rawValue }

    /// Compares a text with a name.
    ///
    /// Returns nil when they are not similar. An empty text is similar to no name.
    /// - Parameters:
    ///   - text: The text that the user typed.
    ///   - name: The name of an account.
    init?(_ text: String, _ name: String) {
        guard !text.isEmpty else { return nil }
        if name == text {
            self = .exact
            return
        }
        let (wanted, found) = (text.lowercased(), name.lowercased())
        if found == wanted {
            self = .sameLetters
        } else if Self.hasWord(in: found, startingWith: wanted) {
            self = .wordStart
        } else if found.contains(wanted) {
            self = .part
        } else if Self.hasCharacters(of: wanted, in: found) {
            self = .subsequence
        } else {
            return nil
        }
    }

    /// Returns the best match of a text with one of several names; nil when none is similar.
    static func best(_ text: String, _ names: [String]) -> NameMatch? { names.compactMap { NameMatch(text, $0) }.min() }

    /// A candidate with its similarity.
    struct Ranked<Candidate> {
        let candidate: Candidate
        let match: NameMatch
    }

    /// Returns the candidates that are similar to a text, the most similar first.
    ///
    /// Candidates of the same similarity keep their order.
    /// - Parameters:
    ///   - candidates: The candidates.
    ///   - text: The text that the user typed.
    ///   - names: Returns the names of a candidate.
    /// - Returns: The similar candidates.
    static func ranked<Candidate>(
        _ candidates: [Candidate], by text: String, _ names: (Candidate) -> [String]
    ) -> [Ranked<Candidate>] {
        var found: [NameMatch: [Ranked<Candidate>]] = [:]
        for candidate in candidates {
            guard let match = best(text, names(candidate)) else { continue }
            found[match, default: []].append(Ranked(candidate: candidate, match: match))
        }
        return allCases.flatMap { found[$0] ?? [] }
    }

    private static func hasWord(in name: String, startingWith text: String) -> Bool {
        var isStart = true
        for index in name.indices {
            if isStart, name[index...].hasPrefix(text) { return true }
            isStart = !name[index].isLetter && !name[index].isNumber
        }
        return false
    }

    private static func hasCharacters(of text: String, in name: String) -> Bool {
        var rest = text[...]
        for character in name where character == rest.first { rest = rest.dropFirst() }
        return rest.isEmpty
    }
}
