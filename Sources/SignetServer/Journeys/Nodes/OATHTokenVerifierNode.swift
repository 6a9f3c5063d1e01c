import SignetCore

/// A node that asks for a one-time code and verifies it.
///
/// It uses the device that is being registered, or else the user's registered device.
struct OATHTokenVerifierNode: Node {
    static let type = NodeType(
        "OathTokenVerifierNode", "OATH Token Verifier",
        "Asks for a one-time code of the device with postponed storage, if there is one, or else of the user's device. Each code is accepted once. It has the outcome `recoveryCodeOutcome`, and a button for it, if `isRecoveryCodeAllowed`."
    ) { decoder in
        Self(
            prompt: decoder.localizedText("prompt", "Enter verification code"),
            timeSteps: decoder.integer("totpTimeSteps", 2, in: 0...100),
            counters: decoder.integer("hotpWindowSize", 100, in: 0...1000),
            allowsRecoveryCode: decoder.bool("isRecoveryCodeAllowed", false))
    }

    var prompt: LocalizedText = "Enter verification code"
    /// The number of time steps before and after the current one in which a code is accepted.
    var timeSteps = 2
    /// The number of counter values ahead in which a code is accepted.
    var counters = 100
    var allowsRecoveryCode = false

    var outcomes: [NodeOutcome] {
        [.successOutcome, .failureOutcome, .notRegisteredOutcome] + (allowsRecoveryCode ? [.recoveryCodeOutcome] : [])
    }
    var interaction: Interaction { .embeddable }

    func process(_ answers: Answers?, _ journey: inout JourneyState, _ tx: inout ServerTransaction) throws -> NodeResult {
        guard let user = journey.user, var device = try journey.pendingOATH ?? tx.devices.oathDevice(of: user) else {
            tx.explain("the user has no device for one-time codes")
            return .transition(.notRegisteredOutcome)
        }
        guard let answers else {
            let buttons = allowsRecoveryCode ? [JourneyCallback.confirmation(["Submit", "Use Recovery Code"], default: 0)] : []
            return .prompt(Page(callbacks: [.name(prompt: tx.text(prompt))] + buttons))
        }
        if allowsRecoveryCode, answers.number(1) == 1 { return .transition(.recoveryCodeOutcome) }
        let code = answers.text(0).filter { !$0.isWhitespace }
        device.verifier = device.verifier.looking(timeWindow: timeSteps, counterWindow: counters)
        guard journey.pendingOATH == nil else {
            // The user has just seen the secret of this device, so its code proves nothing and clears no lockout.
            if let refusal = try tx.guess(of: user) { return .refuse(refusal) }
            guard device.verifier.verify(code, at: tx.now) == .accepted else { return .transition(.failureOutcome) }
            journey.pendingOATH = device
            return .transition(.successOutcome)
        }
        let result = try tx.check(journey.attempts(.oneTimeCode, of: user)) { tx in
            device.verifier.verify(code, at: tx.now) == .accepted
        }
        switch result {
        case .wrong:
            tx.explain("the code is wrong, or was used before")
            return .transition(.failureOutcome)
        case .refused(let refusal): return .refuse(refusal)
        case .right:
            tx.devices.save(device, for: user)
            return .transition(.successOutcome)
        }
    }
}
