import Foundation
import HTTPTypes
import SignetCore

/// The parameters of a request for a user's approval (CIBA section 7.1).
struct BackchannelAuthentication: Sendable {
    /// The name in `login_hint`.
    let user: String
    let scopes: [String]
    /// The text that the user's device shows; nil for the server's.
    let message: String?
    /// The lifetime in seconds that the client requests; nil for the server's.
    let expiry: Int?

    /// The maximum length of `binding_message`, in characters.
    private static let maximumMessageLength = 200
    /// The range of `requested_expiry`, in seconds.
    private static let expiries = 1...3600

    /// Reads the parameters of a form, or the claims of the signed request in it.
    /// - Parameters:
    ///   - form: The form.
    ///   - client: The authenticated client.
    ///   - audiences: The audiences that name this server.
    ///   - now: The current time.
    /// - Returns: The parameters, and the signed request, whose ID is valid once; nil for a form alone.
    /// - Throws: ``OAuthErrorResponse``.
    static func read(
        _ form: Parameters, of client: RegisteredClient, audiences: [String], at now: Date
    ) throws(OAuthErrorResponse) -> (parameters: BackchannelAuthentication, request: ClientAssertion?) {
        guard let text = form["request"] else {
            return (try BackchannelAuthentication({ form[$0] }, of: client), nil)
        }
        let request: ClientAssertion
        do throws(ClientAssertionError) {
            request = try ClientAssertion(text, namesSubject: false)
            try request.check(keys: client.keys, audiences: audiences, at: now, verifiedBy: JSONWebKey.verify)
        } catch {
            throw .invalidRequest("The signed request was refused: \(error.code)")
        }
        guard request.clientID == client.id else { throw .invalidRequest("The signed request is another client's") }
        // CIBA section 7.1.1: the parameters must be in the signed request only.
        let others = [
            "scope", "login_hint", "login_hint_token", "id_token_hint", "binding_message", "requested_expiry", "acr_values",
        ]
        guard others.allSatisfy({ form[$0] == nil }) else {
            throw .invalidRequest("The parameters must be in the signed request only")
        }
        let claims = request.claims
        return (try BackchannelAuthentication({ Self.text(claims[$0]) }, of: client), request)
    }

    private init(_ value: (String) -> String?, of client: RegisteredClient) throws(OAuthErrorResponse) {
        guard value("login_hint_token") == nil, value("id_token_hint") == nil, let user = value("login_hint"), !user.isEmpty
        else {
            throw .invalidRequest("The user must be named in login_hint, and in no other parameter")
        }
        self.user = user
        let asked = (value("scope") ?? "").split(separator: " ").map(String.init)
        guard asked.contains("openid") else { throw .invalidScope("The scope must contain openid") }
        guard asked.allSatisfy(client.scopes.contains) else { throw .invalidScope("Unknown/invalid scope(s)") }
        scopes = asked
        message = value("binding_message")
        if let message, message.count > Self.maximumMessageLength || !message.isSafeToShow {
            throw OAuthErrorResponse(
                .badRequest, "invalid_binding_message",
                "binding_message has more than \(Self.maximumMessageLength) characters, or a control character")
        }
        guard let text = value("requested_expiry") else {
            expiry = nil
            return
        }
        guard let seconds = Int(text), Self.expiries.contains(seconds) else {
            throw .invalidRequest("requested_expiry is a number of seconds from 1 to \(Self.expiries.upperBound)")
        }
        expiry = seconds
    }

    /// Returns a claim as text: a string that isn't empty, or a number.
    private static func text(_ value: JSONValue?) -> String? {
        switch value {
        case .string(let text)?: text.isEmpty ? nil : text
        case .integer(let number)?: String(number)
        default: nil
        }
    }
}
