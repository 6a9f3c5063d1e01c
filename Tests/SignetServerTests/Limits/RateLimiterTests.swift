import Foundation
import SignetCore
import Testing

@testable import SignetServer

@Suite("How often somebody may ask")
struct RateLimiterTests {
    /// A book, its clock, and one limit for all.
    private final class ServerContext {
        let clock = StillClock()
        var book: RateLimiter<String>

        init() { book = RateLimiter(capacity: 100) }

        func take(_ name: String) -> Int? { book.take(name, RateLimit(perMinute: 60, burst: 3), at: clock.now) }
    }

    @Test("A burst is granted, then as much as the time brings, and a wait that is told is long enough")
    func bucket() throws {
        let server = ServerContext()
        for _ in 0..<3 { #expect(server.take("a") == nil) }
        let wait = try #require(server.take("a"))
        #expect(wait == 1)
        // Somebody else is not hindered.
        #expect(server.take("b") == nil)
        server.clock.advance(by: Double(wait))
        #expect(server.take("a") == nil)
        #expect(server.take("a") == 1)
        server.clock.advance(by: 3600)
        for _ in 0..<3 { #expect(server.take("a") == nil) }
        #expect(server.take("a") != nil)
    }

    @Test("In the long run it is never more than the rate", arguments: [0.1, 0.7, 1, 5])
    func longRun(step: Double) {
        let server = ServerContext()
        var granted = 0
        for _ in 0..<1000 {
            if server.take("a") == nil { granted += 1 }
            server.clock.advance(by: step)
        }
        #expect(granted <= 3 + Int((1000 * step).rounded(.up)))
        #expect(granted >= min(1000, Int(1000 * step) - 1))
    }

    @Test("A clock that is moved backwards gives nothing and takes nothing")
    func backwards() {
        let server = ServerContext()
        for _ in 0..<3 { _ = server.take("a") }
        server.clock.advance(by: -1000)
        #expect(server.take("a") != nil)
    }

    @Test("However many ask, few are kept in mind, and who has asked most is not forgotten for them")
    func capacity() {
        let server = ServerContext()
        for _ in 0..<3 { _ = server.take("most") }
        for address in 0..<10_000 {
            _ = server.take("\(address)")
            #expect(server.book.count <= 100)
        }
        #expect(server.take("most") != nil)
    }
}

@Suite("Wrong passwords")
struct LockoutTests {
    private static func configuration(_ rule: Lockout?, host: String = "127.0.0.1") -> ServerConfiguration {
        .sample {
            $0.limits.lockout = rule
            $0.host = host
        }
    }

    @Test("So many lock the account for a while, by the server's clock; then the right one is good again")
    func locks() async throws {
        try await TestServer.run(Self.configuration(Lockout(failures: 3, within: 60, duration: 100))) { server in
            for _ in 0..<3 {
                let reply = try await server.logIn("Login", password: "wrong")
                #expect(reply.status == 401 && reply.message == "Login failure")
            }
            let locked = try await server.logIn("Login")
            #expect(locked.status == 401 && locked.message == "User Locked Out.")
            #expect(locked.json["detail"]?["failureUrl"] == "")
            // Nobody else is.
            #expect(try await server.logIn("Login", name: "noa", password: "staple").isLoggedIn)
            server.clock.advance(by: 99)
            #expect(try await server.logIn("Login").message == "User Locked Out.")
            server.clock.advance(by: 1)
            #expect(try await server.logIn("Login").isLoggedIn)
        }
    }

    @Test("The right password in between, or the time, forgives the wrong ones before")
    func forgives() async throws {
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

    @Test("A name that nobody has is locked like any other: the answer does not say who is there")
    func unknownNames() async throws {
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

    @Test("Of passwords that come at once no more are looked at than the rule says")
    func concurrently() async throws {
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

    @Test("Without a rule it is AM's default: never on an address of this machine, five where others can come")
    func defaultLockout() async throws {
        for (host, locks) in [("127.0.0.1", false), ("localhost", false), ("0.0.0.0", true), ("192.0.2.7", true), ("", true)] {
            try await TestServer.run(Self.configuration(nil, host: host)) { server in
                for _ in 0..<5 { _ = try await server.logIn("Login", password: "wrong") }
                #expect(try await server.logIn("Login").isLoggedIn != locks, "\(host)")
            }
        }
    }

    @Test("The pages say it in their words")
    func page() async throws {
        try await TestServer.run(Self.configuration(Lockout(failures: 1))) { server in
            _ = try await server.logIn("Login", password: "wrong")
            let browser = PageBrowser(server)
            let page = try await browser.signIn(try await browser.get("/am/XUI/"))
            #expect(page.text.contains("This account is locked"))
        }
    }
}

@Suite("Guesses at what one person knows")
struct GuessTests {
    private static let limits = RateLimits(perUser: RateLimit(perMinute: 1, burst: 4))

    @Test("Passwords beyond the limit are not looked at, be they right: 429, when to come back, AM's body")
    func passwords() async throws {
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

    @Test("One-time codes count too, in whatever journey they come")
    func codes() async throws {
        try await TestServer.run(.sample { $0.limits.rateLimits = Self.limits }) { server in
            // Password and code of the registration; then as many codes as are left.
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
