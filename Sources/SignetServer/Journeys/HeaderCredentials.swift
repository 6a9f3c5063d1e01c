import HTTPTypes
import Hummingbird
import SignetCore

/// The name and the password in the headers `X-OpenAM-Username` and `X-OpenAM-Password`, with which scripts log in by one request
/// (protocol/journey.md section 8.2).
struct HeaderCredentials: Sendable {
    let name: String
    /// The password; nil to prefill the name only.
    let password: Secret?

    /// Reads the headers; nil without a name.
    /// - Throws: ``APIError`` with status 400 for a header that is not UTF-8, because its bytes are lost.
    init?(_ request: Request) throws(APIError) {
        guard let name = try Self.value("x-openam-username", request) else { return nil }
        self.name = name
        password = try Self.value("x-openam-password", request).map { Secret($0.utf8) }
    }

    private static func value(_ name: String, _ request: Request) throws(APIError) -> String? {
        guard let value = request.header(name) else { return nil }
        guard !value.unicodeScalars.contains("\u{FFFD}") else {
            throw APIError(.badRequest, "The header \(name) is not UTF-8: write the value as an encoded word (RFC 2047).")
        }
        return EncodedWords.decode(value)
    }
}

extension ServerTransaction {
    /// Starts a journey, and answers its name and password callbacks with the credentials of the request.
    ///
    /// The name and the password are each used once. The step that asks for anything else is the reply. A password is checked and
    /// counted as in any login (``check(_:of:)``).
    mutating func begin(_ start: JourneyStart, with credentials: HeaderCredentials?) throws -> JourneyResult {
        guard let credentials else { return try begin(start) }
        var start = start
        // The session of the request could be another user's.
        if credentials.password != nil { start.isForced = true }
        var answers = ["NameCallback": credentials.name]
        answers["PasswordCallback"] = credentials.password?.text
        var result = try begin(start)
        // A node of the journey has used them, and the step asks for others.
        if request?.hasUsedCredentials == true { return result }
        while case .success(.step(var step)) = result {
            guard credentials.password != nil, step.answer(from: &answers) else {
                if let name = answers["NameCallback"] { step.prefill(name) }
                return .success(.step(step))
            }
            result = try proceed(
                JourneyContinuation(
                    realm: start.realm, authID: step.authId, callbacks: try JSON.value(of: JSON.encode(step.callbacks)),
                    noSession: start.noSession))
        }
        return result
    }
}

extension JourneyStep {
    /// Answers the callbacks, each with an answer that is used up.
    ///
    /// Returns false, and uses up nothing, when a callback with an input has no answer or when no callback has an input.
    fileprivate mutating func answer(from answers: inout [String: String]) -> Bool {
        var (step, rest) = (self, answers)
        for index in callbacks.indices where callbacks[index].input?.isEmpty == false {
            guard let answer = rest.removeValue(forKey: callbacks[index].type) else { return false }
            step.callbacks[index].answer(.string(answer))
        }
        guard rest.count < answers.count else { return false }
        (self, answers) = (step, rest)
        return true
    }

    /// Puts the name into the first name callback, as AM does.
    fileprivate mutating func prefill(_ name: String) {
        guard let index = callbacks.firstIndex(where: { $0.type == "NameCallback" }) else { return }
        callbacks[index].answer(.string(name))
    }
}
