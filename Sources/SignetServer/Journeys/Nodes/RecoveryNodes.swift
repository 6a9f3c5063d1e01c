import SignetCore

/// Recovery codes, each of which replaces a lost device once. They are shown once and stored as digests.
struct RecoveryCodes: Codable, Sendable, Hashable {
    /// The number of codes, as in AM.
    static let count = 10

    let kind: DeviceKind
    /// The name of the device.
    let deviceName: String
    let codes: [String]
    var wereShown = false

    /// Generates ten codes of ten letters and digits, without characters that look alike.
    static func new(for kind: DeviceKind, _ deviceName: String) -> RecoveryCodes {
        let alphabet = Array("ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789")
        var generator = SystemRandomNumberGenerator()
        let codes = (0..<count).map { _ in
            String((0..<10).map { _ in alphabet[Int.random(in: alphabet.indices, using: &generator)] })
        }
        return RecoveryCodes(kind: kind, deviceName: deviceName, codes: codes)
    }
}

/// A node that shows the recovery codes that an earlier node generated. Without codes, it continues immediately.
struct RecoveryCodeDisplayNode: Node {
    var name: String { "RecoveryCodeDisplayNode" }
    var outcomes: [NodeOutcome] { [.outcome] }
    var interaction: Interaction { .ownPage }

    func process(_ visit: NodeInput, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> NodeResult {
        guard visit.answers == nil, let codes = journey.recoveryCodes, !codes.wereShown else {
            journey.recoveryCodes?.wereShown = true
            return .transition(.outcome)
        }
        let text = "Keep these recovery codes. Each can be used once instead of \(codes.deviceName):\n"
        return .prompt(
            Page(callbacks: [
                .information(text + codes.codes.joined(separator: "\n")), .text(Self.script(codes), type: 4),
                .confirmation("Done"),
            ]))
    }

    /// Returns a script for browsers. SDKs read the codes from its string literals that end in a newline (protocol/journey.md
    /// section 2.7).
    private static func script(_ codes: RecoveryCodes) -> String {
        let lines = codes.codes.map { "  \"\($0)\\n\" +" }.joined(separator: "\n")
        return """
            var codes = "<h3>Your Recovery Codes</h3>" +
              "<div>" +
            \(lines)
              "</div>" +
              "<p>For <em>\(codes.deviceName.htmlText.scriptText)</em></p>";
            document.getElementById("callback_0").innerHTML = codes;
            """
    }
}

/// A node that asks for a recovery code, and marks a correct one as used.
struct RecoveryCodeCollectorDecisionNode: Node {
    var kind: DeviceKind

    var name: String { "RecoveryCodeCollectorDecisionNode" }
    var outcomes: [NodeOutcome] { [.isTrue, .isFalse] }
    var interaction: Interaction { .embeddable }

    func process(_ visit: NodeInput, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> NodeResult {
        guard let answers = visit.answers else { return .prompt(Page(callbacks: [.name(prompt: "Recovery Code")])) }
        if let refusal = tx.guess(of: journey.user, visit.moment) { return .refuse(refusal) }
        let code = answers.text(0).filter { !$0.isWhitespace }
        guard let user = journey.user, tx.devices.redeem(code, for: kind, of: user) else { return .transition(.isFalse) }
        return .transition(.isTrue)
    }
}

extension String {
    /// The text escaped for HTML content.
    fileprivate var htmlText: String {
        replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
    }
}
