import Foundation
import Synchronization
import TestSupport

/// A server that answers as OpenAM 16.0.5 was recorded to: journeys of one step, and version 2.0 of the sessions resource only.
final class FakeOpenAM: Sendable {
    /// The step that a journey begins with.
    enum Step: Sendable {
        /// No step: each request is logged in at once, with a session of its own.
        case none
        /// A step with these callbacks, as JSON; the answer to it is logged in.
        case asking(callbacks: String)
    }

    private struct State {
        var sessions: Set<String> = []
        var count = 0
        var authenticateBodies: [String] = []
        /// The status of the response to a logout with version 2.0.
        var logoutStatus = "200 OK"
    }

    private let book: Book
    private let server: RawServer

    /// Starts a server whose journeys all have this step.
    init(_ step: Step = .none) throws {
        let book = Book(step)
        self.book = book
        server = try RawServer { connection in
            while let request = connection.request() { book.answer(request, connection) }
        }
    }

    deinit { server.stop() }

    var url: String { "http://127.0.0.1:\(server.port)/openam" }
    /// The sessions that have not been ended.
    var sessions: Set<String> { book.state.withLock { $0.sessions } }
    /// The bodies of the requests to `authenticate`, in order.
    var authenticateBodies: [String] { book.state.withLock { $0.authenticateBodies } }

    /// Answers each logout with this status from now on and ends no session.
    func refuseLogout(_ status: String) { book.state.withLock { $0.logoutStatus = status } }

    private final class Book: Sendable {
        let step: Step
        let state = Mutex(State())

        init(_ step: Step) { self.step = step }

        func answer(_ request: RawConnection.Request, _ connection: RawConnection) {
            let (status, body) = state.withLock { state in
                request.line.contains("/sessions") ? logOut(request, &state) : authenticate(request, &state)
            }
            connection.answer(status, headers: ["Content-Type: application/json"], body)
        }

        private func authenticate(_ request: RawConnection.Request, _ state: inout State) -> (String, String) {
            state.authenticateBodies.append(request.body)
            if case .asking(let callbacks) = step, !request.body.contains("authId") {
                return ("200 OK", #"{"authId":"a.b.c","template":"","stage":"S1","callbacks":\#(callbacks)}"#)
            }
            state.count += 1
            let session = "sso-\(state.count)"
            state.sessions.insert(session)
            return ("200 OK", #"{"tokenId":"\#(session)","successUrl":"/openam/console","realm":"/"}"#)
        }

        private func logOut(_ request: RawConnection.Request, _ state: inout State) -> (String, String) {
            guard request.header("accept-api-version")?.contains("resource=2.0") == true else {
                return ("404 Not Found", #"{"code":404,"reason":"Not Found","message":"Resource &#39;&#39; not found"}"#)
            }
            guard state.logoutStatus == "200 OK" else {
                return (state.logoutStatus, #"{"code":\#(state.logoutStatus.prefix(3)),"reason":"Refused","message":"Refused"}"#)
            }
            guard let session = request.header("iplanetdirectorypro"), state.sessions.remove(session) != nil else {
                return ("401 Unauthorized", #"{"code":401,"reason":"Unauthorized","message":"Access Denied"}"#)
            }
            return ("200 OK", #"{"result":"Successfully logged out"}"#)
        }
    }
}
