import SignetCore

/// A node that makes the client wait.
///
/// It repeats the wait when the client polls too early, up to a limit.
struct PollingWaitNode: Node {
    static let type = NodeType(
        "PollingWaitNode", "Polling Wait",
        "Makes the client wait. It has the outcome `EXITED` if it is `exitable`, and `SPAM`, for clients that poll too early too often, if `spamDetectionEnabled`."
    ) { decoder in
        let seconds = decoder.integer("secondsToWait", 8, in: 1...86_400)
        let message = decoder.localizedText("waitingMessage", "Waiting ...")
        let isExitable = decoder.bool("exitable", false)
        let exit = decoder.localizedText("exitMessage", "Exit")
        let detectsSpam = decoder.bool("spamDetectionEnabled", false)
        let tolerance = decoder.integer("spamDetectionTolerance", 3, in: 0...1000)
        return Self(
            seconds: Double(seconds), message: message, exit: isExitable ? exit : nil, tolerance: detectsSpam ? tolerance : nil)
    }

    var seconds: Double
    var message: LocalizedText = "Waiting ..."
    /// The text of a button that ends the wait; nil for no button.
    var exit: LocalizedText?
    /// The number of polls that may come too early; nil for no limit.
    var tolerance: Int?

    var outcomes: [NodeOutcome] { [.done] + (exit == nil ? [] : [.exited]) + (tolerance == nil ? [] : [.spam]) }
    var interaction: Interaction { .ownPage }

    func process(_ answers: Answers?, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> NodeResult {
        let now = tx.now
        guard let answers, case .waiting(var wait) = journey.memory else {
            let wait = PollingWait(milliseconds: Int(seconds * 1000), from: now, tolerance: tolerance ?? .max)
            return prompt(wait, &journey, tx)
        }
        if exit != nil, answers.number(1) == 0 { return .transition(.exited) }
        switch wait.poll(at: now) {
        case .due: return .transition(.done)
        case .early: return prompt(wait, &journey, tx)
        case .spam: return .transition(.spam)
        }
    }

    private func prompt(_ wait: PollingWait, _ journey: inout JourneyState, _ tx: ServerTransaction) -> NodeResult {
        journey.memory = .waiting(wait)
        let buttons = exit.map { [JourneyCallback.confirmation(tx.text($0))] } ?? []
        return .prompt(Page(callbacks: [.wait(milliseconds: wait.milliseconds, message: tx.text(message))] + buttons))
    }
}
