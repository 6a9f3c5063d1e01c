import SignetCore

/// The failure of work that the agent does again and again: it is reported once, and again only after the work has succeeded.
struct RepeatedFailure {
    /// True between a failure and the next success.
    private(set) var isFailing = false

    /// Notes a failure, and prints a line on standard error for the first one since a success.
    /// - Parameter line: The line, with the reason.
    mutating func report(_ line: @autoclosure () -> TerminalText) {
        if begins() { Console.error(line()) }
    }

    /// Notes a failure.
    /// - Returns: True for the first failure since a success.
    mutating func begins() -> Bool {
        defer { isFailing = true }
        return !isFailing
    }

    /// Notes a success.
    /// - Returns: True for the first success since a failure.
    @discardableResult
    mutating func ends() -> Bool {
        defer { isFailing = false }
        return isFailing
    }
}
