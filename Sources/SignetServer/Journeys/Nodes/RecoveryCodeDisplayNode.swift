import SignetCore

/// A node that shows the recovery codes that an earlier node generated.
///
/// Without codes, it continues immediately.
struct RecoveryCodeDisplayNode: Node {
    static let type = NodeType(
        "RecoveryCodeDisplayNode", "Recovery Code Display Node",
        "Shows the recovery codes that an earlier node generated, once. Without codes, it continues immediately."
    ) { _ in Self() }

    var outcomes: [NodeOutcome] { [.outcome] }
    var interaction: Interaction { .ownPage }

    func process(_ answers: Answers?, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> NodeResult {
        guard answers == nil, let codes = journey.recoveryCodes, !codes.wereShown else {
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

    /// Returns a script for browsers.
    ///
    /// SDKs read the codes from its string literals that end in a newline (protocol/journey.md section 2.7).
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

extension String {
    /// The text escaped for HTML content.
    fileprivate var htmlText: String {
        replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
    }
}
