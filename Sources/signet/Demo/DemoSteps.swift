/// The steps of the demo, and the summary table at its end.
struct DemoSteps {
    private var rows: [(title: String, outcome: String?)] = []

    var count: Int { rows.count }
    var current: String { rows.last?.title ?? "-" }

    /// Prints the title of a step, performs it, and records its result.
    mutating func perform<R>(_ title: String, _ body: () async throws -> (R, outcome: String)) async throws -> R {
        rows.append((title, nil))
        Console.line("\n  \(count)  \(title)")
        let (value, outcome) = try await body()
        rows[rows.count - 1].outcome = outcome
        Console.line("      \(outcome)")
        return value
    }

    func printSummary() {
        let width = rows.map(\.title.count).max() ?? 0
        Console.line("\n  Summary")
        for (index, row) in rows.enumerated() {
            let number = index + 1 < 10 ? " \(index + 1)" : "\(index + 1)"
            let title = row.title + String(repeating: " ", count: width - row.title.count)
            Console.line("  \(row.outcome == nil ? "✗" : "✓") \(number)  \(title)  \(row.outcome ?? "failed")")
        }
    }
}
