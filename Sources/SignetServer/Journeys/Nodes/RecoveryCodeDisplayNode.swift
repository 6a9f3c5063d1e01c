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
        // AM sends the script alone. The JavaScript SDKs read the first text with the words "recovery codes".
        return .prompt(Page(callbacks: [.text(Self.script(codes), type: 4)]))
    }

    /// Returns a script for browsers.
    ///
    /// SDKs read the codes from its string literals that end in a newline (protocol/journey.md section 2.7). The name of the
    /// device has no quotation mark, because the JavaScript SDKs would read the text after an escaped one as a code.
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
    /// The text escaped for HTML content, without quotation marks.
    fileprivate var htmlText: String {
        replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;").replacing("\"", with: "&quot;")
    }
}
