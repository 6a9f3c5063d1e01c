import Foundation
import SignetCore
import TestSupport

/// A server that shows the pages of one journey in order, as OpenAM 16.0.5 was recorded to, and then logs the user in.
///
/// It refuses an answer whose callbacks are not those of the page, as OpenAM does, and the page can be answered again. It also
/// registers a device for push.
final class PagedOpenAM: Sendable {
    /// A page: the members of a step that OpenAM sends, with the callbacks as JSON.
    struct Page: Sendable {
        let header: String
        var infoText: [String] = []
        let callbacks: [String]

        fileprivate func json(authId: String) -> String {
            let info = JSON.text(of: JSONValue.array(infoText.map { .string($0) }))
            return "{\"authId\":\"\(authId)\",\"template\":\"\",\"stage\":\"Page1\",\"header\":\(PagedOpenAM.quoted(header)),"
                + "\"infoText\":\(info),\"callbacks\":[\(callbacks.joined(separator: ","))]}"
        }

        /// Returns the message of the refusal of an answer; nil for one with the number and the types of the page's callbacks.
        fileprivate func refusal(of answers: [JSONValue]) -> String? {
            let types = callbacks.map { (try? JSON.value(of: $0.utf8))?["type"]?.string }
            guard answers.count == types.count else { return "Incorrect number of callbacks found in JSON response" }
            return answers.map { $0["type"]?.string } == types ? nil : "Required callback not found in JSON response"
        }
    }

    private struct State {
        var starts: [String] = []
        var answers: [JSONValue] = []
        var registrations: [String] = []
    }

    private let records: Records
    private let server: RawServer

    /// Starts a server with the pages that a closure returns, given the server's address.
    init(_ pages: @escaping @Sendable (_ url: String) -> [Page]) throws {
        let records = Records(pages)
        self.records = records
        server = try RawServer { connection in
            while let request = connection.request() { records.answer(request, connection) }
        }
    }

    convenience init(_ pages: [Page]) throws { try self.init { _ in pages } }

    deinit { server.stop() }

    var url: String { "http://127.0.0.1:\(server.port)/openam" }
    /// The lines of the requests that started a journey.
    var starts: [String] { records.state.withLock { $0.starts } }
    /// The bodies of the requests that registered a device for push.
    var registrations: [String] { records.state.withLock { $0.registrations } }

    /// The values of the inputs in the answers to a page, from 0, by their names; empty for a page without an answer.
    func inputs(ofPage page: Int) -> [String: JSONValue] {
        let answer = records.state.withLock { $0.answers.last { $0["authId"]?.string == "page-\(page)" } }
        let inputs = answer?["callbacks"]?.array?.flatMap { $0["input"]?.array ?? [] } ?? []
        let values = inputs.map { ($0["name"]?.string ?? "", $0["value"] ?? .null) }
        return Dictionary(values, uniquingKeysWith: { first, _ in first })
    }

    private final class Records: Sendable {
        let pages: @Sendable (String) -> [Page]
        let state = Mutex(State())

        init(_ pages: @escaping @Sendable (String) -> [Page]) { self.pages = pages }

        func answer(_ request: RawConnection.Request, _ connection: RawConnection) {
            let isJourney = request.line.contains("/authenticate?") || request.line.contains("/authenticate ")
            let answer = isJourney ? authenticate(request) : Answer(body: register(request))
            connection.answer(answer.status, headers: ["Content-Type: application/json"], answer.body)
        }

        private struct Answer {
            var status = "200 OK"
            let body: String
        }

        private func authenticate(_ request: RawConnection.Request) -> Answer {
            let answer = (try? JSON.value(of: request.body.utf8)) ?? .null
            let pages = pages("http://\(request.header("host") ?? "")/openam")
            var next = 0
            if let page = answer["authId"]?.string?.split(separator: "-").last.flatMap({ Int($0) }) {
                if pages.indices.contains(page), let message = pages[page].refusal(of: answer["callbacks"]?.array ?? []) {
                    return Answer(
                        status: "400 Bad Request", body: #"{"code":400,"reason":"Bad Request","message":"\#(message)"}"#)
                }
                state.withLock { $0.answers.append(answer) }
                next = page + 1
            } else {
                state.withLock { $0.starts.append(request.line) }
            }
            guard pages.indices.contains(next) else {
                return Answer(body: #"{"tokenId":"sso-1","successUrl":"/openam/console","realm":"/"}"#)
            }
            return Answer(body: pages[next].json(authId: "page-\(next)"))
        }

        private func register(_ request: RawConnection.Request) -> String {
            if request.line.contains("_action=register") { state.withLock { $0.registrations.append(request.body) } }
            return "{}"
        }
    }
}

// The callbacks of OpenAM's pages, as JSON.
extension PagedOpenAM {
    static func name(_ prompt: String, _ input: Int) -> String { field("NameCallback", prompt, input) }
    static func password(_ prompt: String, _ input: Int) -> String { field("PasswordCallback", prompt, input) }

    /// A text; type 4 is a script.
    static func text(_ message: String, type: Int = 0) -> String {
        #"{"type":"TextOutputCallback","output":[{"name":"message","value":\#(quoted(message))},"#
            + #"{"name":"messageType","value":"\#(type)"}]}"#
    }

    static func confirmation(_ options: [String], _ input: Int) -> String {
        let list = JSON.text(of: JSONValue.array(options.map { .string($0) }))
        return #"{"type":"ConfirmationCallback","output":[{"name":"prompt","value":""},{"name":"messageType","value":0},"#
            + #"{"name":"options","value":\#(list)},{"name":"optionType","value":-1},{"name":"defaultOption","value":0}],"#
            + #""input":[{"name":"IDToken\#(input)","value":0}]}"#
    }

    static func choice(_ prompt: String, _ choices: [String], _ input: Int) -> String {
        let list = JSON.text(of: JSONValue.array(choices.map { .string($0) }))
        return #"{"type":"ChoiceCallback","output":[{"name":"prompt","value":\#(quoted(prompt))},"#
            + #"{"name":"choices","value":\#(list)},{"name":"defaultChoice","value":0}],"#
            + #""input":[{"name":"IDToken\#(input)","value":0}]}"#
    }

    static func wait(milliseconds: Int) -> String {
        #"{"type":"PollingWaitCallback","output":[{"name":"waitTime","value":"\#(milliseconds)"}]}"#
    }

    /// A hidden value, whose ID OpenAM sends only as the value of the input.
    static func hidden(_ id: String, _ input: Int) -> String {
        #"{"type":"HiddenValueCallback","output":[{"name":"value","value":""}],"#
            + #""input":[{"name":"IDToken\#(input)","value":\#(quoted(id))}]}"#
    }

    /// The script that draws a QR code, which OpenAM sends without a hidden value.
    static func drawing(_ uri: String) -> String {
        text(
            """
            require(['org/forgerock/openam/server/util/QRCodeReader'], function (QRCodeReader) {
                QRCodeReader.createCode({
                    id: 'callback_1',
                    text: '\(uri)',
                    version: '20',
                    code: 'L'
                });
            });
            """, type: 4)
    }

    /// The page of the DataStore module.
    static let login = Page(
        header: "Sign in to OpenAM", infoText: ["", ""], callbacks: [name("User Name:", 1), password("Password:", 2)])

    private static func field(_ type: String, _ prompt: String, _ input: Int) -> String {
        #"{"type":"\#(type)","output":[{"name":"prompt","value":\#(quoted(prompt))}],"#
            + #""input":[{"name":"IDToken\#(input)","value":""}]}"#
    }

    private static func quoted(_ text: String) -> String { JSON.text(of: JSONValue.string(text)) }
}
