import SignetCore
import SignetStorage

extension AuthorizeController {
    /// The answer to an authorization request that is sent to the client at the end of the login.
    struct LoginAnswer: Sendable {
        /// The client's redirect URI with the response parameters.
        let location: String
        /// The id of the client, if it has got a code.
        let client: String?
    }

    /// Decides the authorization request to which a login leads, in the transaction that ends the login.
    ///
    /// The request is judged as if the browser had sent it with the session alone. The browser has to send it itself when the
    /// response is a page: for the user's consent, another login, a response in a form, and the error of a client or a redirect
    /// URI that isn't valid any more. The same holds for a request with `id_token_hint`, whose signature is verified outside of
    /// transactions.
    /// - Parameters:
    ///   - location: The path and query to which the login leads.
    ///   - token: The token of the session.
    ///   - flow: The id of the login flow, which is not needed after the code was exchanged.
    ///   - tx: The transaction.
    /// - Returns: The answer; nil when the browser has to go to `location`.
    /// - Throws: `StoreError` when the state cannot be read.
    static func answer(
        toRequestAt location: String, session token: String, flow: String, _ tx: inout ServerTransaction
    ) throws -> LoginAnswer? {
        guard let (given, realm) = request(at: location, tx.time), let parameters = try? tx.requested(by: given, in: realm),
            parameters["id_token_hint"] == nil,
            let target = try? AuthorizationReturn(parameters, in: realm, tx.clients, tx.time),
            target.mode != .formPost, target.redirectURI != nil
        else { return nil }
        do {
            let outcome = try Self.outcome(of: parameters, target, hint: .success(nil), Decision(), [token], &tx)
            if case .idToken = outcome { return nil }
            try tx.record(parameters, isAnswered: outcome.isFinal)
            switch outcome {
            case .code(let code):
                try tx.tokens.mark(code: code, flow: flow)
                return target.location(of: [("code", code)]).map { LoginAnswer(location: $0, client: target.client.id) }
            case .confirmed: return target.location(of: []).map { LoginAnswer(location: $0, client: nil) }
            case .refused(let refusal):
                return target.location(of: refusal.parameters).map { LoginAnswer(location: $0, client: nil) }
            case .idToken, .login, .consent: return nil
            }
        } catch let error as StoreError where error.isRecordScoped {
            // The login holds although a row of the authorization can't be read. The browser gets that error from its request.
            return nil
        } catch is OAuthErrorResponse {
            return nil
        }
    }

    /// Returns the parameters and the realm of the authorization request at a path of this server; nil for other paths.
    private static func request(at location: String, _ time: RequestTime) -> (Parameters, RealmPath)? {
        guard let path = location.below(contextPath: time.configuration.normalContextPath) else { return nil }
        let parts = AddressParts(path)
        guard let parameters = parts.query.flatMap({ try? Parameters($0) }),
            let address = Route.Address(path: parts.path, realmParameter: parameters["realm"]), address.route == .authorize
        else { return nil }
        return (parameters, address.realm)
    }
}
