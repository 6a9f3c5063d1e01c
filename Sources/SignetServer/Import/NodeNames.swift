import SignetCore

/// Makes names of nodes from the names in AM's editor: `Retry Limit Decision` becomes `retryLimitDecision`.
struct NodeNames {
    /// The names that are in use, and the names of the ends of a journey.
    private var used: Set<String> = ["success", "failure"]
    /// The maximum length of a name without its number.
    private static let maxLength = 40

    /// Returns a name that no other node of the journey has.
    /// - Parameters:
    ///   - displayName: The name in AM's editor.
    ///   - type: The type of the node, for nodes without a name.
    /// - Returns: The name.
    mutating func name(_ displayName: String, type: String) -> String {
        var base = Self.words(displayName)
        if base.isEmpty { base = Self.words(type) }
        if base.isEmpty { base = "node" }
        if base == "success" || base == "failure" { base += "Node" }
        var name = base
        var number = 2
        while !used.insert(name).inserted {
            name = "\(base)\(number)"
            number += 1
        }
        return name
    }

    /// Returns the words of a text as one word; empty when it has no letter.
    private static func words(_ text: String) -> String {
        var words = text.split { !$0.isLetter && !$0.isNumber }.map(String.init)
        // Most names in AM's editor end with this word, which tells nothing.
        if words.count > 1, words.last?.lowercased() == "node" { words.removeLast() }
        guard let first = words.first, words.contains(where: { $0.contains(where: \.isLetter) }) else { return "" }
        let start = first.allSatisfy { $0.isUppercase || $0.isNumber } ? first.lowercased() : first.lowercasedFirst
        let name = ([start] + words.dropFirst().map(\.uppercasedFirst)).joined()
        return String((name.first?.isNumber == true ? "node" + name : name).prefix(maxLength))
    }
}

extension String {
    fileprivate var lowercasedFirst: String { prefix(1).lowercased() + dropFirst() }
    fileprivate var uppercasedFirst: String { prefix(1).uppercased() + dropFirst() }
}
