import SignetCore
import SignetNetwork

/// The codes of logins in the user's browser, for requests that no client of the SDK sends.
struct BrowserCodes: Sendable {
    /// The authorization endpoint.
    let endpoint: String
    let clientID: String
    /// The registered redirect URI, on the loopback interface.
    let redirectURI: String
    let scope: String
    /// The time that the user has for one login.
    let timeout: Duration

    /// Opens the browser, and returns the code with which it comes back; nil when the server refuses the request.
    /// - Parameter fields: The fields beside those that each request has.
    /// - Returns: The code.
    /// - Throws: ``Failure`` when nothing can listen at the redirect URI, or the browser does not come back in time.
    func code(_ fields: [String: String]) async throws -> GrantProbe.Code? {
        let state = Base64.encode(Secret.random(byteCount: 32).bytes, as: .url)
        do {
            let listener = try await LoopbackListener.listening(at: redirectURI)
            var all: [(name: String, value: String)] = [
                ("response_type", "code"), ("client_id", clientID), ("redirect_uri", listener.redirectURI), ("scope", scope),
                ("state", state), ("nonce", state),
            ]
            for (name, value) in fields.sorted(by: { $0.key < $1.key }) { all.append((name: name, value: value)) }
            let address = FormCoding.address(endpoint, adding: all)
            let answer = try await listener.answer(
                within: timeout, accepting: { FormCoding.value(of: "state", in: $0) == state },
                whileOpening: { [timeout] in await TerminalLogin.openBrowser(address, within: timeout) })
            return FormCoding.value(of: "code", in: answer).map {
                GrantProbe.Code(code: Secret(text: $0), redirectURI: listener.redirectURI)
            }
        } catch let error as LoopbackListener.InvalidAddress {
            throw Failure(.badInput, "check.redirect", error.reason)
        } catch RedirectReceiver.Failure.timeout {
            throw Failure(
                .unavailable, "check.browser", "the browser did not come back within \(timeout.components.seconds) seconds")
        } catch RedirectReceiver.Failure.cancelled {
            throw CancellationError()
        }
    }
}
