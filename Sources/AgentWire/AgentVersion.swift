/// The version of the programs of this package.
package enum AgentVersion {
    /// The version, such as `0.1.0`.
    package static let current = "0.1.0"
}

extension AgentFailure {
    /// Returns the failure of a request whose operation the agent may have performed; nil when the agent has not begun it.
    package init?(_ failure: AgentClient.Failure) {
        switch failure {
        case .noAgent: return nil
        case .interrupted:
            self.init(
                exit: 69, code: "agent.interrupted",
                message: "the agent ended before it answered, and may have done what was asked; try again", part: nil)
        case .timedOut:
            self.init(
                exit: 69, code: "agent.timeout", message: "the agent did not answer in time, and may still do what was asked",
                part: nil)
        case .unreadable:
            self.init(
                exit: 76, code: "agent.unreadable", message: "the reply of the agent cannot be read; restart it: signet agent",
                part: nil)
        }
    }
}
