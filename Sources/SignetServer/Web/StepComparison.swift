import SignetCore

extension JourneyStep {
    /// Returns true when both steps look the same to the user, except for the remaining wait time.
    func isSamePage(as other: JourneyStep) -> Bool {
        (stage, header, description) == (other.stage, other.header, other.description)
            && callbacks.map(\.withoutWait) == other.callbacks.map(\.withoutWait)
    }

    /// Returns true when both steps ask the user to type the same, regardless of what is filled in.
    ///
    /// A step with choices only may come again because of a choice, without a mistake of the user.
    func asksSame(as other: JourneyStep) -> Bool {
        callbacks.map(\.type) == other.callbacks.map(\.type) && callbacks.contains(where: \.isTyped)
            && callbacks.map { $0.output("prompt") } == other.callbacks.map { $0.output("prompt") }
    }
}

extension JourneyCallback {
    /// The callbacks whose input the user types.
    private static let typed: Set = [
        "NameCallback", "PasswordCallback", "TextInputCallback", "StringAttributeInputCallback", "NumberAttributeInputCallback",
        "ValidatedCreateUsernameCallback", "ValidatedCreatePasswordCallback", "KbaCreateCallback",
    ]

    fileprivate var isTyped: Bool { Self.typed.contains(type) }

    fileprivate var withoutWait: JourneyCallback {
        guard type == "PollingWaitCallback" else { return self }
        var same = self
        same.output.removeAll { $0.name == "waitTime" }
        return same
    }
}
