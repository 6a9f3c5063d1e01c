import Foundation
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

@Suite("Rate limiter")
struct RateLimiterTests {
    /// A rate limiter, its clock and one limit for all names.
    private final class ServerContext {
        let clock = ManualClock()
        var book: RateLimiter<String>

        init() { book = RateLimiter(capacity: 100) }

        func take(_ name: String) -> Int? { book.take(name, RateLimit(perMinute: 60, burst: 3), at: clock.now) }
    }

    @Test("A burst is granted, then requests at the rate, and the reported wait is long enough")
    func grantsBurstThenRate() throws {
        let server = ServerContext()
        for _ in 0..<3 { #expect(server.take("a") == nil) }
        let wait = try #require(server.take("a"))
        #expect(wait == 1)
        // Another client is not limited.
        #expect(server.take("b") == nil)
        server.clock.advance(by: Double(wait))
        #expect(server.take("a") == nil)
        #expect(server.take("a") == 1)
        server.clock.advance(by: 3600)
        for _ in 0..<3 { #expect(server.take("a") == nil) }
        #expect(server.take("a") != nil)
    }

    @Test("The rate limiter never grants more than the rate over a long time", arguments: [0.1, 0.7, 1, 5])
    func neverExceedsRate(step: Double) {
        let server = ServerContext()
        var granted = 0
        for _ in 0..<1000 {
            if server.take("a") == nil { granted += 1 }
            server.clock.advance(by: step)
        }
        #expect(granted <= 3 + Int((1000 * step).rounded(.up)))
        #expect(granted >= min(1000, Int(1000 * step) - 1))
    }

    @Test("A clock that moves backward neither grants nor withdraws requests")
    func ignoresBackwardClock() {
        let server = ServerContext()
        for _ in 0..<3 { _ = server.take("a") }
        server.clock.advance(by: -1000)
        #expect(server.take("a") != nil)
    }

    @Test("The rate limiter remembers a bounded number of clients and keeps the busiest")
    func boundsRememberedClients() {
        let server = ServerContext()
        for _ in 0..<3 { _ = server.take("most") }
        for address in 0..<10_000 {
            _ = server.take("\(address)")
            #expect(server.book.count <= 100)
        }
        #expect(server.take("most") != nil)
    }
}

@Suite("Lockout after wrong passwords")
struct LockoutTests {
    private static func configuration(_ rule: Lockout?, host: String = "127.0.0.1") -> ServerConfiguration {
        .sample {
            $0.limits.lockout = rule
            $0.host = host
        }
    }

    @Test("Too many wrong passwords lock the account until the lockout ends by the server's clock")
    func locksAccountTemporarily() async throws {
        try await TestServer.run(Self.configuration(Lockout(failures: 3, within: 60, duration: 100))) { server in
            for _ in 0..<3 {
                let reply = try await server.logIn("Login", password: "wrong")
                #expect(reply.status == 401 && reply.message == "Login failure")
            }
            let locked = try await server.logIn("Login")
            #expect(locked.status == 401 && locked.message == "User Locked Out.")
            #expect(locked.json["detail"]?["failureUrl"] == "")
            // No other account is locked.
            #expect(try await server.logIn("Login", name: "noa", password: "staple").isLoggedIn)
            server.clock.advance(by: 99)
            #expect(try await server.logIn("Login").message == "User Locked Out.")
            server.clock.advance(by: 1)
            #expect(try await server.logIn("Login").isLoggedIn)
        }
    }

    @Test("A right password or the passage of time clears the count of wrong passwords")
    func clearsFailureCount() async throws {
        try await TestServer.run(Self.configuration(Lockout(failures: 3, within: 60, duration: 100))) { server in
            for isForgivenByTime in [false, true] {
                for _ in 0..<5 {
                    for _ in 0..<2 {
                        let wrong = try await server.logIn("Login", password: "wrong")
                        #expect(wrong.message == "Login failure")
                    }
                    if isForgivenByTime { server.clock.advance(by: 61) }
                    if isForgivenByTime { continue }
                    let right = try await server.logIn("Login")
                    #expect(right.isLoggedIn)
                }
            }
            let last = try await server.logIn("Login")
            #expect(last.isLoggedIn)
        }
    }

    @Test("An unknown user name is locked like a known one, so the answer does not disclose users")
    func locksPasswordOfUnknownName() async throws {
        try await TestServer.run(Self.configuration(Lockout(failures: 2))) { server in
            var answers: [[String?]] = []
            for name in ["mira", "nobody"] {
                var messages: [String?] = []
                for _ in 0..<4 { messages.append(try await server.logIn("Login", name: name, password: "wrong").message) }
                answers.append(messages)
            }
            #expect(answers[0] == answers[1])
            #expect(answers[0].last == "User Locked Out.")
        }
    }

    @Test("Simultaneous wrong passwords are checked only up to the limit")
    func checksConcurrentPasswordsUpToLimit() async throws {
        try await TestServer.run(Self.configuration(Lockout(failures: 5))) { server in
            let messages = try await withThrowingTaskGroup(of: String?.self) { group in
                for _ in 0..<40 { group.addTask { try await server.logIn("Login", password: "wrong").message } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            let failureCount = messages.count { $0 == "Login failure" }
            let lockoutCount = messages.count { $0 == "User Locked Out." }
            #expect(failureCount == 5)
            #expect(lockoutCount == 35)
        }
    }

    @Test("The default lockout is that of AM: never on a loopback address, after five failures elsewhere")
    func defaultLockoutDependsOnHost() async throws {
        for (host, locks) in [("127.0.0.1", false), ("localhost", false), ("0.0.0.0", true), ("192.0.2.7", true), ("", true)] {
            try await TestServer.run(Self.configuration(nil, host: host)) { server in
                for _ in 0..<5 { _ = try await server.logIn("Login", password: "wrong") }
                #expect(try await server.logIn("Login").isLoggedIn != locks, "\(host)")
            }
        }
    }

    @Test("The login page reports the lockout")
    func loginPageReportsLockout() async throws {
        try await TestServer.run(Self.configuration(Lockout(failures: 1))) { server in
            _ = try await server.logIn("Login", password: "wrong")
            let browser = PageBrowser(server)
            let page = try await browser.signIn(try await browser.get("/am/XUI/"))
            #expect(page.text.contains("This account is locked"))
        }
    }
}

@Suite("Rate limit of guesses per user")
struct GuessTests {
    private static let limits = RateLimits(perUser: RateLimit(perMinute: 1, burst: 4))

    @Test("Passwords beyond the limit, even right ones, are answered with 429, Retry-After and AM's body")
    func limitsPasswordGuesses() async throws {
        try await TestServer.run(.sample { $0.limits.rateLimits = Self.limits }) { server in
            for _ in 0..<4 { #expect(try await server.logIn("Login", password: "wrong").status == 401) }
            let reply = try await server.logIn("Login")
            #expect(reply.status == 429 && reply.json["code"] == .integer(429) && reply.json["reason"] == "Too Many Requests")
            let wait = try #require(reply.header("Retry-After").flatMap(Int.init))
            #expect((1...60).contains(wait))
            #expect(try await server.logIn("Login", name: "noa", password: "staple").isLoggedIn)
            server.clock.advance(by: Double(wait))
            #expect(try await server.logIn("Login").isLoggedIn)
        }
    }

    @Test("One-time codes in any journey count toward the limit of guesses")
    func limitsOneTimeCodeGuesses() async throws {
        try await TestServer.run(.sample { $0.limits.rateLimits = Self.limits }) { server in
            // The password and the code of the registration count, then the codes that are left.
            var step = try await server.logIn("OATHRegistration").step
            let settings = try #require(EnrollmentURI.parse(try step.registrationURI).oath)
            step = try await server.next(step).step
            step.fill("NameCallback", .string(settings.code(at: server.clock.now).digits))
            let last = try await server.next(step)
            #expect(last.status == 200)
            var statuses: [Int] = []
            for _ in 0..<3 {
                let begun = try await server.logIn("OATHLogin")
                guard begun.status == 200 else {
                    statuses.append(begun.status)
                    continue
                }
                var code = try begun.step
                code.fill("NameCallback", "000000")
                statuses.append(try await server.next(code).status)
            }
            #expect(statuses.last == 429, "\(statuses)")
        }
    }
}
