extension String {
    /// Returns the Levenshtein distance: the number of characters to change, add or remove to get the other string.
    ///
    /// Case is ignored.
    package func distance(to other: String) -> Int {
        let (own, others) = (Array(lowercased()), Array(other.lowercased()))
        var row = Array(0...others.count)
        for (index, character) in own.enumerated() {
            var diagonal = row[0]
            row[0] = index + 1
            for column in others.indices {
                let changed = diagonal + (character == others[column] ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = Swift.min(changed, row[column] + 1, row[column + 1] + 1)
            }
        }
        return row[others.count]
    }
}

extension [String] {
    /// Returns the end of a message about an unknown name: the most similar name, and all valid names.
    /// - Parameters:
    ///   - name: The unknown name.
    ///   - introduction: The words before the list of valid names.
    /// - Returns: The text, which begins with a colon or a semicolon; empty when the list of valid names is empty.
    package func suggestion(for name: String, _ introduction: String = "valid names:") -> String {
        guard !isEmpty else { return "" }
        let all = "\(introduction) " + map { "`\($0)`" }.joined(separator: ", ")
        return nearest(to: name).map { ": did you mean `\($0)`? (\(all))" } ?? "; \(all)"
    }

    /// Returns the most similar name: one that differs only in case, or in one or two characters.
    package func nearest(to name: String) -> String? {
        if let same = first(where: { $0.lowercased() == name.lowercased() }) { return same }
        guard name.count <= 64 else { return nil }
        let distances = map { (name: $0, distance: $0.distance(to: name)) }
        return distances.filter { $0.distance <= Swift.min(2, ($0.name.count + 1) / 3) }.min { $0.distance < $1.distance }?.name
    }
}
