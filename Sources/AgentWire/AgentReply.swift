/// The reply of `signet agent` to a request.
package enum AgentReply: Sendable, Hashable {
    /// The operation was performed; the fields are its result.
    case result([[UInt8]])
    /// The operation failed.
    case failure(AgentFailure)
    /// The agent did not begin the operation, so that the client can do it without the agent.
    case declined(Reason)

    /// The reason why the agent did not begin an operation.
    package enum Reason: String, Sendable, Hashable, CaseIterable {
        /// The agent is another version of the program.
        case otherVersion = "other-version"
        /// The agent holds another vault.
        case otherVault = "other-vault"
        /// The vault is locked.
        case locked
        /// The agent does not perform this operation.
        case unsupported
        /// The agent serves as many clients as it can.
        case busy
        /// The agent asks the user before this operation, and the request does not wait for the user.
        case asks
        /// The client waits no longer.
        case late
    }

    /// Reads a reply; returns nil when the message is not a reply.
    package init?(_ message: AgentMessage) {
        let texts = message.fields.map { AgentMessage.text($0) }
        switch texts.first ?? nil {
        case "result": self = .result(Array(message.fields.dropFirst()))
        case "failure":
            guard texts.count == 5, let exit = texts[1].flatMap({ Int32($0) }), let code = texts[2], let text = texts[3],
                let part = texts[4]
            else { return nil }
            self = .failure(AgentFailure(exit: exit, code: code, message: text, part: part.isEmpty ? nil : part))
        case "declined":
            guard texts.count == 2, let reason = texts[1].flatMap(Reason.init(rawValue:)) else { return nil }
            self = .declined(reason)
        default: return nil
        }
    }

    /// The message with the reply.
    package var message: AgentMessage {
        switch self {
        case .result(let fields): AgentMessage([Array("result".utf8)] + fields)
        case .failure(let failure):
            AgentMessage(
                ["failure", "\(failure.exit)", failure.code, failure.message, failure.part ?? ""].map { Array($0.utf8) })
        case .declined(let reason): AgentMessage(["declined", reason.rawValue].map { Array($0.utf8) })
        }
    }
}

/// The failure of an operation, as the client reports it.
package struct AgentFailure: Sendable, Hashable {
    /// The exit status of the command.
    package let exit: Int32
    /// The error code in JSON output.
    package let code: String
    /// The message for the user, without control characters.
    package let message: String
    /// The name of the invalid part of the input; nil if the failure is not about a part.
    package let part: String?

    /// Creates a failure.
    package init(exit: Int32, code: String, message: String, part: String?) {
        self.exit = exit
        self.code = code
        self.message = message
        self.part = part
    }
}
