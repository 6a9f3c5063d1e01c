import Foundation
import SignetCore
import SignetTesting
import TestSupport
import Testing

@Suite("signet enroll with a failing push server")
struct NetworkFaultTests {
    /// The ways in which a server fails; each case is a real response on a real socket.
    enum Fault: CaseIterable {
        case html, errorPage, refusal, notFound, redirect, cutInHead, cutInBody, cutInChunk, noAnswer, reset, garbage,
            tooLarge, jsonArray, closedPort, silence
        case silenceInBody

        /// The exit code (docs of `Failure.Exit`), the error's code, and words of the message.
        var expected: (exit: Int32, code: String, words: [String]) {
            switch self {
            case .html, .jsonArray: (76, "authenticator.serverMisbehaved", ["127.0.0.1", "JSON", "HTTP 200"])
            case .errorPage: (76, "authenticator.serverMisbehaved", ["127.0.0.1", "HTTP 500"])
            case .redirect: (76, "authenticator.serverMisbehaved", ["127.0.0.1", "HTTP 302"])
            case .refusal: (77, "authenticator.refusedByServer", ["127.0.0.1", "HTTP 400"])
            case .notFound: (77, "authenticator.refusedByServer", ["127.0.0.1", "HTTP 404"])
            case .cutInHead, .cutInBody, .cutInChunk, .noAnswer, .reset:
                (76, "network.interrupted", ["127.0.0.1", "ended before"])
            case .garbage: (76, "network.notHTTP", ["127.0.0.1", "not HTTP"])
            case .tooLarge: (76, "network.tooLarge", ["127.0.0.1", "too large"])
            case .closedPort: (69, "network.connect", ["127.0.0.1", "no connection", "try again"])
            case .silence, .silenceInBody: (69, "network.timeout", ["127.0.0.1", "no answer in time", "try again"])
            }
        }

        func serve(_ connection: RawConnection) {
            guard connection.request() != nil else { return }
            switch self {
            case .html: connection.answer("200 OK", headers: ["Content-Type: text/html"], "<html>welcome</html>")
            case .jsonArray: connection.answer("200 OK", headers: ["Content-Type: application/json"], "[]")
            case .errorPage: connection.answer("500 Internal Server Error", "<html>secret stack trace</html>")
            case .redirect: connection.answer("302 Found", headers: ["Location: http://127.0.0.1:1/"])
            case .refusal: connection.answer("400 Bad Request", #"{"code":400,"reason":"Bad Request","message":"Bad request."}"#)
            case .notFound: connection.answer("404 Not Found")
            case .cutInHead: connection.send("HTTP/1.1 200 OK\r\nContent-Ty")
            case .cutInBody:
                connection.send("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{\"a\":")
            case .cutInChunk: connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n50\r\n{\"a\":")
            case .noAnswer: break
            case .reset: connection.reset()
            case .garbage: connection.send("SSH-2.0-OpenSSH_9.2\r\n\0\u{1}\u{2}\r\n\r\n")
            case .tooLarge: connection.answer("200 OK", String(repeating: " ", count: 3_000_000))
            case .silence, .closedPort: connection.waitForEnd()
            case .silenceInBody:
                connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{")
                connection.waitForEnd()
            }
        }
    }

    @Test(
        "A failed enrollment exits with the documented code and stores nothing, and a retry succeeds",
        arguments: Fault.allCases)
    func reportsNetworkFault(fault: Fault) async throws {
        let server = try RawServer { fault.serve($0) }
        let closed = try ReservedPort()
        try await CommandLineFixture.with { cli in
            try await cli.signet("enroll", OATHSample.uri(account: "noa")).succeeds()
            let before = (accounts: try await cli.accounts(), files: try cli.vaultFiles())
            let oath = OATHSettings(secret: try OATHSample.secret)
            let uri = try PushInvitation.sample(port: fault == .closedPort ? closed.number : server.port).uri(oath: oath)
            // Outside of the gate: a silent server takes half a minute, and no other test should wait for it.
            let start = ContinuousClock.now
            let outcome = try await cli.start(["enroll", "--json", uri]).end()
            let took = ContinuousClock.now - start

            let (exit, code, words) = fault.expected
            outcome.fails(exit)
            let message = try #require(outcome.jsonError?["message"]?.string)
            #expect(outcome.jsonError?["code"]?.string?.hasPrefix(code) == true, "\(outcome.errors)")
            for word in words { #expect(message.contains(word), "\(message)") }
            #expect(!message.contains("stack trace"))
            let isSilent = fault == .silence || fault == .silenceInBody
            if isSilent { #expect(took >= .seconds(29)) }
            #expect(try await cli.accounts() == before.accounts)
            #expect(try cli.vaultFiles() == before.files)

            let healthy = try FakePushServer()
            let second = try PushInvitation.sample(port: healthy.port).uri(oath: oath)
            try await cli.signet("enroll", second).succeeds()
            let kinds = try await cli.accounts().map { $0["mechanisms"]?.array?.compactMap { $0["type"]?.string } }
            #expect(kinds == [["totp"], ["push", "totp"]])
        }
    }

    @Test("A registration is one request with the routing cookie and the device's signed claims")
    func registersInOneRequest() async throws {
        let requests = Mutex<[RawConnection.Request]>([])
        let server = try RawServer { connection in
            while let request = connection.request() {
                requests.withLock { $0.append(request) }
                connection.answer("200 OK")
            }
        }
        try await CommandLineFixture.with { cli in
            try await cli.signet("enroll", PushInvitation.sample(port: server.port).uri()).succeeds()
            let seen = requests.withLock { $0 }
            let request = try #require(seen.first)
            #expect(seen.count == 1)
            #expect(request.line == "POST /register HTTP/1.1")
            #expect(request.header("cookie") == "amlbcookie=01")
            #expect(request.header("content-type") == "application/json")
            let body = try JSON.decode(PushRequestBody.self, from: Array(request.body.utf8))
            let claims = try JSON.value(of: CompactJWS(body.jwt).payload(verifiedWith: PushInvitation.sampleSecret))
            let account = try #require(try await cli.accounts().first)
            #expect(account["mechanisms"]?.array?.first?["id"] == claims["mechanismUid"])
            #expect(body.messageId == "REGISTER:1")
            // The server offered no push stream: such an account can be kept, and `push listen` reports the lack.
            try await cli.signet("push", "listen").fails(77, "127.0.0.1", "has no push stream")
        }
    }

    @Test("A link to a push stream at another origin is not followed")
    func ignoresForeignPushStream() async throws {
        let other = try RawServer { _ in Issue.record("the other server was contacted") }
        let server = try RawServer { connection in
            guard connection.request() != nil else { return }
            connection.answer(
                "200 OK", headers: ["Link: <http://127.0.0.1:\(other.port)/stream>; rel=\"signet-push-stream\""], "{}")
        }
        try await CommandLineFixture.with { cli in
            try await cli.signet("enroll", PushInvitation.sample(port: server.port).uri()).succeeds()
            try await cli.signet("push", "listen").fails(77, "has no push stream")
        }
    }

    @Test("A registration interrupted by a signal stores nothing")
    func interruptsRegistration() async throws {
        let asked = Mutex(false)
        let server = try RawServer { connection in
            guard connection.request() != nil else { return }
            asked.withLock { $0 = true }
            connection.waitForEnd()
        }
        try await CommandLineFixture.with { cli in
            let enrolling = try cli.start(["enroll", PushInvitation.sample(port: server.port).uri()])
            let isAsked = try await eventually { asked.withLock { $0 } }
            #expect(isAsked)
            enrolling.signal(SIGINT)
            #expect(await enrolling.end().status != 0)
            #expect(try await cli.accounts().isEmpty)
        }
    }
}
