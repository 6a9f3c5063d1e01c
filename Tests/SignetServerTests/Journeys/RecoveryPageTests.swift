import SignetCore
import TestSupport
import Testing

@testable import SignetServer

@Suite("The page with recovery codes")
struct RecoveryPageTests {
    /// Returns the codes that the vendors' JavaScript SDKs read from the first text with the words "recovery codes".
    private func codes(_ callbacks: [JourneyCallback]) -> [String] {
        let texts = callbacks.filter { $0.type == "TextOutputCallback" }.compactMap { $0.output("message")?.string }
        let text = texts.first { $0.contains("Recovery Codes") || $0.contains("recovery codes") } ?? ""
        return text.matches(of: #/\s[\w\W]"(\w*)\\/#).map { String($0.output.1) }
    }

    /// Returns the name of the device that the vendors' JavaScript SDKs read.
    private func name(_ callbacks: [JourneyCallback]) -> String? {
        let text = callbacks.first?.output("message")?.string ?? ""
        return text.firstMatch(of: #/<em\s*.*>\s*.*<\/em>/#).map { String($0.output.dropFirst(4).dropLast(5)) }
    }

    @Test(
        "S4: The page with recovery codes is the script alone, from which JavaScript SDKs read all codes and the device's name",
        arguments: [
            (.oath, "OATH Device", "OATH Device"), (.push, "Push Device", "Push Device"), (.webauthn, "Blue key", "Blue key"),
            (.webauthn, "<b>My \"1\"\\n key", "&lt;b&gt;My &quot;1&quot;\\\\n key"),
        ] as [(DeviceKind, String, String)])
    func scriptIsAlone(kind: DeviceKind, device: String, shown: String) throws {
        var journey = JourneyState.sample()
        var tx = ServerTransaction(users: ServerConfiguration.sample().users, trees: [])
        let recovery = RecoveryCodes.new(for: kind, device)
        journey.recoveryCodes = recovery
        guard case .prompt(let page) = RecoveryCodeDisplayNode().process(nil, &journey, &tx) else {
            Issue.record("the node shows no page")
            return
        }
        #expect(page.callbacks.map(\.type) == ["TextOutputCallback"])
        #expect(page.callbacks.first?.output("messageType") == "4")
        #expect(codes(page.callbacks) == recovery.codes)
        #expect(name(page.callbacks) == shown)
        // The server's own login page reads the same codes.
        let script = try #require(page.callbacks.first?.output("message")?.string)
        #expect(ShownRecoveryCodes(script: script)?.codes == recovery.codes)
    }
}
