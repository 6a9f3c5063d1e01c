/// The timeouts of tests that wait for an event.
///
/// They are long enough for a busy machine. An event that occurs earlier ends the wait at once.
package enum TestTimeout {
    /// The default timeout.
    package static let `default` = Duration.seconds(120)
}

/// Waits until a condition is true.
///
/// Returns false when the timeout ends before that.
package func eventually(within timeout: Duration = TestTimeout.default, _ condition: () async throws -> Bool) async throws -> Bool
{
    let deadline = ContinuousClock.now + timeout
    while true {
        // The deadline is read before the condition: on a busy machine the timeout may end before the first check, and one check
        // must follow it.
        let isLast = ContinuousClock.now > deadline
        if try await condition() { return true }
        if isLast { return false }
        try await Task.sleep(for: .milliseconds(10))
    }
}
