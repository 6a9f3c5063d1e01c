#if os(Linux)
import Foundation
import SignetCore

/// A server that answers as OpenAM 16.0.5 was recorded to: journeys of pages, version 2.0 of the sessions resource only, and the
/// codes and tokens of one client.
package final class FakeOpenAM: Sendable {
    /// The journey that each start begins.
    package enum Step: Sendable {
        /// No step: each request is logged in at once, with a session of its own.
        case none
        /// A step with these callbacks, as JSON; any answer to it is logged in.
        case asking(callbacks: String)
        /// Pages in this order, whose answers are checked as OpenAM checks them.
        case chain([Page])
    }

    package struct State {
        package var sessions: Set<String> = []
        var count = 0
        var authenticateBodies: [String] = []
        var authenticateQueries: [[String: String]] = []
        /// The versions of the sessions resource that requests have asked for.
        package var sessionsVersions: [String] = []
        package var languages: [String?] = []
        /// The status of the response to a logout with version 2.0.
        var logoutStatus = "200 OK"
        var journeys: [Int: Journey] = [:]
        package var oauth = OAuth()
    }

    /// A journey in progress.
    struct Journey {
        /// The index of the current page.
        var page = 0
        /// True when the start had `ForceAuth`; on a step it means nothing.
        let isForced: Bool
        /// The session that the start named for an upgrade.
        let upgrade: String?

        init(_ query: [String: String]) {
            (isForced, upgrade) = (query["ForceAuth"] == "true", query["sessionUpgradeSSOTokenId"])
        }
    }

    struct Answer {
        var status = "200 OK"
        var headers: [String] = []
        var body = "{}"

        static func error(_ status: String, _ message: String) -> Answer {
            let body: JSONValue = .object([
                "code": .integer(Int64(status.prefix(3)) ?? 0), "reason": .string(String(status.dropFirst(4))),
                "message": .string(message),
            ])
            return Answer(status: status, body: String(decoding: JSON.encode(body), as: UTF8.self))
        }
    }

    private let records: Records
    private let server: RawServer

    /// Starts a server whose journeys are all the same.
    package init(_ step: Step = .none) throws {
        let records = Records(step)
        self.records = records
        server = try RawServer { connection in
            while let request = connection.request() { records.answer(request, connection) }
        }
    }

    deinit { server.stop() }

    package var url: String { "http://127.0.0.1:\(server.port)/openam" }
    /// The sessions that have not been ended.
    package var sessions: Set<String> { read(\.sessions) }
    /// The bodies of the requests to `authenticate`, in order.
    package var authenticateBodies: [String] { read(\.authenticateBodies) }
    /// The query parameters of these requests.
    package var authenticateQueries: [[String: String]] { read(\.authenticateQueries) }
    /// The number of callbacks in each answer to a step, in order.
    package var callbackCounts: [Int] { authenticateBodies.compactMap { Records.callbacks(of: $0)?.count } }

    package func read<Value: Sendable>(_ path: KeyPath<State, Value>) -> Value { records.state.withLock { $0[keyPath: path] } }

    package func change(_ body: (inout State) -> Void) { records.state.withLock { body(&$0) } }

    /// Answers each logout with this status from now on and ends no session.
    package func refuseLogout(_ status: String) { change { $0.logoutStatus = status } }

    private final class Records: Sendable {
        let step: Step
        let state = Mutex(State())

        init(_ step: Step) { self.step = step }

        func answer(_ request: RawConnection.Request, _ connection: RawConnection) {
            let target = String(request.line.split(separator: " ").dropFirst().first ?? "")
            let query = FormCoding.query(of: target)
            let answer = state.withLock { state in
                switch target.prefix(while: { $0 != "?" }) {
                case let path where path.hasSuffix("/authenticate"): authenticate(request, query, &state)
                case let path where path.hasSuffix("/sessions"): sessions(request, query["_action"], &state)
                case let path: OAuth.answer(String(path), request, query, &state)
                }
            }
            connection.answer(
                answer.status, headers: ["Content-Type: application/json;charset=UTF-8"] + answer.headers, answer.body)
        }

        static func callbacks(of body: String) -> [JSONValue]? {
            (try? JSON.value(of: Array(body.utf8)))?["callbacks"]?.array
        }

        // MARK: Journeys

        private func authenticate(
            _ request: RawConnection.Request, _ query: [String: String], _ state: inout State
        ) -> Answer {
            state.authenticateBodies.append(request.body)
            state.authenticateQueries.append(query)
            state.languages.append(request.header("accept-language"))
            let id = (try? JSON.value(of: Array(request.body.utf8)))?["authId"]?.string
            switch (step, id) {
            case (.asking(let callbacks), nil):
                return Answer(body: #"{"authId":"a.b.c","template":"","stage":"S1","callbacks":\#(callbacks)}"#)
            case (.chain(let pages), nil): return start(pages, query, &state)
            case (.chain(let pages), let id?): return next(pages, id, request, &state)
            case (.none, _), (.asking, _): return logIn(Journey(query), &state)
            }
        }

        private func start(_ pages: [Page], _ query: [String: String], _ state: inout State) -> Answer {
            let journey = Journey(query)
            if let upgrade = journey.upgrade, !state.sessions.contains(upgrade) {
                return .error("400 Bad Request", "Failed to create encrypted storage key for:\nSession ID: \(upgrade)")
            }
            let number = state.authenticateBodies.count
            state.journeys[number] = journey
            return pages[0].answer("a.\(number).0")
        }

        private func next(
            _ pages: [Page], _ id: String, _ request: RawConnection.Request, _ state: inout State
        ) -> Answer {
            let number = Int(id.split(separator: ".")[1]) ?? 0
            guard var journey = state.journeys[number], id == "a.\(number).\(journey.page)" else {
                return .error("400 Bad Request", "Invalid authId")
            }
            let page = pages[journey.page]
            switch page.verdict(on: Self.callbacks(of: request.body) ?? []) {
            case .broken(let message): return .error("400 Bad Request", message)
            case .wrong:
                state.journeys[number] = nil
                return .error("401 Unauthorized", "Authentication Failed")
            case .again: return page.answer(id)
            case .right:
                journey.page += 1
                guard journey.page < pages.count else { return logIn(journey, &state) }
                state.journeys[number] = journey
                return pages[journey.page].answer("a.\(number).\(journey.page)")
            }
        }

        private func logIn(_ journey: Journey, _ state: inout State) -> Answer {
            guard !journey.isForced else {
                return journey.upgrade.map(Self.loggedIn)
                    ?? .error(
                        "400 Bad Request", "Session Upgrade fails since user is different than original authenticated user")
            }
            state.count += 1
            let session = "sso-\(state.count)"
            state.sessions.insert(session)
            return Self.loggedIn(session)
        }

        private static func loggedIn(_ session: String) -> Answer {
            Answer(body: #"{"tokenId":"\#(session)","successUrl":"/openam/console","realm":"/"}"#)
        }

        // MARK: Sessions

        private func sessions(_ request: RawConnection.Request, _ action: String?, _ state: inout State) -> Answer {
            let asked = request.header("accept-api-version") ?? ""
            let version = String(asked.split(separator: ",").first?.trimmingPrefix("resource=") ?? "")
            state.sessionsVersions.append(version)
            // A session that has ended is 401 for any version.
            guard let session = request.header("iplanetdirectorypro"), state.sessions.contains(session) else {
                return .error("401 Unauthorized", "Access Denied")
            }
            guard version == "2.0" else { return .error("404 Not Found", "Resource &#39;&#39; not found") }
            switch action {
            case "getSessionInfo": return Answer(body: #"{"username":"\#(OAuth.user)","realm":"/","properties":{}}"#)
            case "logout":
                guard state.logoutStatus == "200 OK" else { return .error(state.logoutStatus, "Refused") }
                state.sessions.remove(session)
                return Answer(body: #"{"result":"Successfully logged out"}"#)
            default: return .error("501 Not Implemented", "The action is not supported")
            }
        }
    }
}
#endif
