#if os(Linux)
import Foundation
package import SignetCore
import SignetNetwork
package import SignetOAuth
import SignetStorage

/// A relying party's service with a back-channel logout address, on a port of this machine.
///
/// It ends sessions as a service of an app does: with the verifier of the SDK, and with the response that the verifier returns.
package final class BackChannelService: Sendable {
    /// The observations of the service.
    package struct State: Sendable {
        /// The sessions of the app by their ID (`sid`), with the subject of each.
        package var sessions: [String: String] = [:]
        /// The tokens whose sessions were ended, in the order of their arrival.
        package var ended: [LogoutToken] = []
        /// The errors with which tokens were refused, or with which the app failed, in the order of their arrival.
        package var errors: [any Error] = []
        /// The bodies of all requests to the address.
        package var bodies: [String] = []
        /// The number of requests for which the app fails to end the sessions.
        package var failures = 0
        fileprivate var verifier: LogoutTokenVerifier?
    }

    /// The error of the app that could not end a session.
    package struct CannotEnd: Error {}

    private let state = Mutex(State())
    private let server: Mutex<RawServer?> = Mutex(nil)

    /// Starts the service.
    ///
    /// It answers with 503 until it has a verifier.
    package init() throws {
        let server = try RawServer { [weak self] connection in
            while let self, let request = connection.request() { self.serve(request, connection) }
        }
        self.server.withLock { $0 = server }
    }

    deinit { server.withLock { $0?.stop() } }

    /// The back-channel logout address, which the provider must know.
    package var address: String { "http://127.0.0.1:\(server.withLock { $0?.port ?? 0 })/backchannel-logout" }

    /// The state of the service.
    package var now: State { state.withLock { $0 } }

    /// Changes the state of the service.
    package func change(_ body: (inout State) -> Void) { state.withLock { body(&$0) } }

    /// Sets the verifier, whose provider may start after the service because it must know the address.
    package func use(_ verifier: LogoutTokenVerifier) { state.withLock { $0.verifier = verifier } }

    private func serve(_ request: RawConnection.Request, _ connection: RawConnection) {
        guard request.line.hasPrefix("POST /backchannel-logout ") else {
            connection.answer("404 Not Found")
            return
        }
        let verifier = state.withLock { state -> LogoutTokenVerifier? in
            state.bodies.append(request.body)
            return state.verifier
        }
        guard let verifier else {
            connection.answer("503 Service Unavailable")
            return
        }
        let body = Array(request.body.utf8)
        let answer = Blocking.wait { await verifier.answer(body) { token in try self.end(token) } }
        if case .failure(let error) = answer.outcome { state.withLock { $0.errors.append(error) } }
        let response = answer.response
        connection.answer(
            "\(response.status) Test", headers: response.headers.fields.map { "\($0.name): \($0.value)" },
            String(decoding: response.body, as: UTF8.self))
    }

    /// Ends the session with the ID of a token, or all sessions of its subject.
    private func end(_ token: LogoutToken) throws {
        try state.withLock { state in
            guard state.failures == 0 else {
                state.failures -= 1
                throw CannotEnd()
            }
            if let id = token.sessionID {
                state.sessions[id] = nil
            } else {
                state.sessions = state.sessions.filter { $0.value != token.subject }
            }
            state.ended.append(token)
        }
    }
}
#endif
