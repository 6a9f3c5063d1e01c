#if os(Linux)
import SignetCore

extension FakeOpenAM {
    /// One page of a journey.
    package struct Page: Sendable {
        /// The callbacks, as JSON.
        let callbacks: String
        /// The stage and the header of a module's page; nil for a page without the members that only modules send.
        package var module: (stage: String, header: String)?
        /// The values that inputs must have, by their names.
        var expected: [String: JSONValue] = [:]
        /// The value of an input that asks for the page again.
        var again: (name: String, value: JSONValue)?

        /// The result of an answer.
        enum Verdict {
            case right, wrong, again
            /// The answer is refused with this message, and the page can be answered again.
            case broken(String)
        }

        func answer(_ id: String) -> Answer {
            guard let module else { return Answer(body: #"{"authId":"\#(id)","callbacks":\#(callbacks)}"#) }
            let texts = expectedCallbacks.map { _ in #""""# }.joined(separator: ",")
            return Answer(
                body: #"{"authId":"\#(id)","template":"","stage":"\#(module.stage)","header":"\#(module.header)","#
                    + #""infoText":[\#(texts)],"callbacks":\#(callbacks)}"#)
        }

        /// Checks the number and the types of the callbacks, and then the values.
        func verdict(on answers: [JSONValue]) -> Verdict {
            let types = expectedCallbacks.map { $0["type"]?.string }
            guard answers.count == types.count else {
                return .broken("Incorrect number of callbacks found in JSON response")
            }
            guard answers.map({ $0["type"]?.string }) == types else {
                return .broken("Required callback not found in JSON response")
            }
            var values: [String: JSONValue] = [:]
            for input in answers.flatMap({ $0["input"]?.array ?? [] }) { values[input["name"]?.string ?? ""] = input["value"] }
            if let again, values[again.name] == again.value { return .again }
            return expected.allSatisfy { values[$0.key] == $0.value } ? .right : .wrong
        }

        private var expectedCallbacks: [JSONValue] { (try? JSON.value(of: Array(callbacks.utf8)))?.array ?? [] }
    }
}

extension FakeOpenAM.Page {
    package static let password = "Passw0rd!"

    /// The page of the module DataStore, for the user dave.
    package static let dataStore = FakeOpenAM.Page(
        callbacks: "[" + field("NameCallback", "User Name:", 1) + "," + field("PasswordCallback", "Password:", 2) + "]",
        module: ("DataStore1", "Sign in to OpenAM"),
        expected: ["IDToken1": .string("dave"), "IDToken2": .string(password)])

    /// The page of the module HOTP with two buttons; the second one sends the code.
    package static let oneTimePassword = FakeOpenAM.Page(
        callbacks: "[" + field("PasswordCallback", "Enter OTP", 1)
            + #",{"type":"ConfirmationCallback","output":[{"name":"prompt","value":""},{"name":"messageType","value":0},"#
            + #"{"name":"options","value":["Submit OTP","Request OTP"]},{"name":"optionType","value":-1},"#
            + #"{"name":"defaultOption","value":0}],"input":[{"name":"IDToken2","value":0}]}]"#,
        module: ("HOTP2", "Please enter your One Time Password, or request a new one"),
        expected: ["IDToken1": .string("123456"), "IDToken2": .integer(0)], again: ("IDToken2", .integer(1)))

    /// The page of the module Scripted, whose script a browser runs.
    package static let script = FakeOpenAM.Page(callbacks: scriptCallbacks, module: ("Scripted2", "Sign in to OpenAM"))

    /// The same page without the members by which a client recognizes a module.
    package static let plainScript = FakeOpenAM.Page(callbacks: scriptCallbacks)

    private static let scriptCallbacks =
        #"[{"type":"HiddenValueCallback","output":[{"name":"value","value":""}],"#
        + #""input":[{"name":"IDToken1","value":"clientScriptOutputData"}]},{"type":"TextOutputCallback","output":["#
        + #"{"name":"message","value":"output.value = 1;"},{"name":"messageType","value":"4"}]}]"#

    private static func field(_ type: String, _ prompt: String, _ number: Int) -> String {
        #"{"type":"\#(type)","output":[{"name":"prompt","value":"\#(prompt)"}],"#
            + #""input":[{"name":"IDToken\#(number)","value":""}]}"#
    }
}
#endif
