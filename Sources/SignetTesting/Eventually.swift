/// How long a test waits for what must come, before it fails: so long that a busy machine has come to it. What comes at once waits
/// for none of it.
package enum Patience {
    /// For everything that a test does not know better.
    package static let usual = Duration.seconds(120)
}

/// Whether something comes true while a test has patience.
package func eventually(within patience: Duration = Patience.usual, _ condition: () async throws -> Bool) async throws -> Bool {
    let deadline = ContinuousClock.now + patience
    while true {
        // Asked first: on a busy machine all the time there was may pass before the condition is looked at.
        let isLast = ContinuousClock.now > deadline
        if try await condition() { return true }
        if isLast { return false }
        try await Task.sleep(for: .milliseconds(10))
    }
}
