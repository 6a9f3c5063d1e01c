// A plain release build does not offer internal declarations to other modules.
#if DEBUG || SIGNET_FUZZER
import SignetCore
import SignetPushGateway

@testable import SignetServer

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The readers of the development server's requests.
///
/// `@testable` reaches them, so that none is public for the fuzzer alone.
enum ServerInputs {
    /// Reads the body of an authenticate request, as the answer to a step with each form of input.
    static func readAuthenticate(_ bytes: [UInt8]) {
        guard let body = try? JSON.value(of: bytes) else { return }
        if let handle = body["authId"]?.string { _ = AuthID(handle, key: key) }
        let sent = JourneyCallback.numbered(
            [.name(prompt: "User Name"), .password(prompt: "Password"), .hidden(id: "webAuthnOutcome", value: "false")])
        let answers = Answers(sent, filledIn: body["callbacks"])
        precondition(!answers.isEmpty && answers.value(sent.count) == nil, "an answer to a callback that was not sent")
        for index in sent.indices {
            let text = answers.text(index)
            _ = (answers.number(index), answers.bool(index))
            _ = DeviceSignedToken(text)
            guard let outcome = try? WebAuthnAnswer(text) else { continue }
            for field in outcome.fields.indices { _ = outcome.numbers(field).flatMap { AuthenticatorData($0) } }
        }
    }

    /// Reads a query or a form, and an action of the push gateway.
    ///
    /// What was read can be written, and is then the same.
    static func readForm(_ bytes: [UInt8]) {
        if let action = try? PushGatewayAction(bytes) { _ = try? action.attributes() }
        let text = String(decoding: bytes, as: UTF8.self)
        _ = try? PolicyAdvice(text)
        _ = try? AcceptAPIVersion(text)
        guard let form = try? Parameters(text) else { return }
        let written = form.fields().map { "\(encoded($0.name))=\(encoded($0.value))" }.joined(separator: "&")
        precondition((try? Parameters(written)) == form, "a form that was read and written is another one")
    }

    /// Reads a signed request: method, path and query on the first line, then headers, an empty line, and the body.
    static func readSignature(_ bytes: [UInt8]) {
        let parts = String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        let line = (parts.first ?? "").split(separator: " ", maxSplits: 1).map(String.init)
        let target = (line.last ?? "").split(separator: "?", maxSplits: 1).map(String.init)
        var headers: [String: String] = [:]
        for header in parts.dropFirst().prefix(while: { !$0.isEmpty }) {
            let pair = header.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            headers[pair[0].lowercased()] = pair.count == 2 ? pair[1] : ""
        }
        let body = parts.dropFirst().drop { !$0.isEmpty }.dropFirst().joined(separator: "\n")
        try? keys.check(
            method: line.first ?? "", path: target.first ?? "", query: target.count == 2 ? target[1] : "", body: Array(body.utf8),
            now: Date(timeIntervalSince1970: 1_735_689_600), header: { headers[$0] })
    }

    /// Reads an item of CBOR and an authenticator's data.
    static func readCBOR(_ bytes: [UInt8]) {
        var rest = bytes[...]
        if CBOR.read(&rest) != nil { precondition(rest.count < bytes.count, "an item of no bytes") }
        _ = AuthenticatorData(bytes)
    }

    private static let key = Secret(Array("a key of the fuzzer, 32 bytes long".utf8))
    private static let keys = PushGatewayKeys(
        PushGatewayConfiguration(keys: [AWSCredentials(accessKey: "AKIDEXAMPLE", secret: key, sessionToken: nil)]))

    private static func encoded(_ text: String) -> String {
        text.utf8.map { "%" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
#endif
