import Foundation
import HTTPTypes
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

@Suite("Delivery of emails over SMTP", .timeLimit(.minutes(5)))
struct SMTPTests {
    private func configuration(
        _ port: Int, _ configure: (inout SMTPConfiguration) -> Void = { _ in }
    ) -> ServerConfiguration {
        .sample {
            $0.adminToken = Secret(AdminTests.token.utf8)
            $0.smtp = SMTPConfiguration(host: "localhost") {
                $0.port = port
                $0.sender = "login@harbor.example"
                $0.timeout = 30
                configure(&$0)
            }
        }
    }

    private func sendEmail(_ server: TestServer, to name: String = "noa") async throws -> Reply {
        var step = try await server.start("EmailLogin").step
        step.fill("NameCallback", .string(name))
        return try await server.next(step)
    }

    /// Waits until the newest email has a result, and returns it.
    private func result(_ server: TestServer) async throws -> JSONValue {
        var last: JSONValue = .null
        let isDone = try await eventually {
            last = try await server.admin(.get, "emails").json["emails"]?.array?.last ?? .null
            return last["delivery"] != nil && last["delivery"] != "queued"
        }
        #expect(isDone)
        return last
    }

    @Test("An email is delivered as text and HTML in a form that every mail server transports")
    func deliversEmail() async throws {
        try await SMTPSink.with { sink in
            var settings = configuration(sink.port)
            settings.issuer = "Häfen & Co"
            try await TestServer.run(settings) { server in
                #expect(try await sendEmail(server).status == 200)
                #expect(try await result(server)["delivery"] == "delivered")
                let link = try #require(try await server.devServer.emailLinks(to: "noa").last)
                let message = try #require(sink.messages.first)
                #expect(message.sender == "login@harbor.example" && message.recipients == ["noa@example.test"])
                #expect(!message.isEncrypted && message.login == nil)
                #expect(message.header("From") == "<login@harbor.example>" && message.header("To") == "<noa@example.test>")
                #expect(EncodedWords.decode(message.header("Subject") ?? "") == "Continue at Häfen & Co")
                #expect(message.header("Date")?.hasSuffix(" +0000") == true && message.header("MIME-Version") == "1.0")
                #expect(message.header("Message-ID")?.hasSuffix("@harbor.example>") == true)
                #expect(message.part("text/plain")?.contains(link) == true)
                #expect(message.part("text/html")?.contains("Häfen &amp; Co") == true)
                let isPlain = message.lines.allSatisfy { line in line.utf8.count <= 200 && line.utf8.allSatisfy { $0 < 0x7F } }
                #expect(isPlain)
            }
        }
    }

    @Test("With STARTTLS the email and the login are encrypted, and the server's certificate is checked")
    func deliversEmailOverTLS() async throws {
        let authority = try TestAuthority()
        let identity = try authority.identity(for: "localhost")
        let directory = try TemporaryDirectory()
        let file = directory.file("ca.pem")
        try authority.certificate.write(toFile: file, atomically: true, encoding: .utf8)
        let behavior = SMTPSink.Behavior {
            $0.identity = identity
            $0.login = ("signet", "s3cret, with \u{e4}")
        }
        try await SMTPSink.with(behavior) { sink in
            let settings = configuration(sink.port) {
                $0.security = .startTLS
                $0.username = "signet"
                $0.password = Secret("s3cret, with \u{e4}".utf8)
                $0.authorities = file
            }
            try await TestServer.run(settings) { server in
                _ = try await sendEmail(server)
                #expect(try await result(server)["delivery"] == "delivered")
                #expect(sink.messages.first?.isEncrypted == true && sink.messages.first?.login != nil)
            }
            let untrusting = configuration(sink.port) { $0.security = .startTLS }
            try await TestServer.run(untrusting) { server in
                _ = try await sendEmail(server)
                let email = try await result(server)
                #expect(email["delivery"] == "failed" && email["reason"]?.string?.contains("failed") == true, "\(email)")
            }
            #expect(sink.messages.count == 1)
        }
    }

    /// A mail server that takes no email, a change of the settings, and the reason that is reported.
    static let failures: [(String, SMTPSink.Behavior, @Sendable (inout SMTPConfiguration) -> Void, String)] = [
        (
            "refused recipient", SMTPSink.Behavior { $0.refused = ["noa@example.test"] }, { _ in },
            "RCPT TO:<noa@example.test> was 550 5.1.1 no such mailbox"
        ),
        ("no STARTTLS", SMTPSink.Behavior(), { $0.security = .startTLS }, "does not offer STARTTLS"),
        (
            "no login", SMTPSink.Behavior(),
            {
                $0.username = "signet"
                $0.password = Secret("x".utf8)
            }, "does not offer the login PLAIN"
        ),
        (
            "wrong password", SMTPSink.Behavior { $0.login = ("signet", "right") },
            {
                $0.username = "signet"
                $0.password = Secret("wrong-password".utf8)
            }, "AUTH PLAIN was 535"
        ),
        ("silence", SMTPSink.Behavior { $0.isSilent = true }, { $0.timeout = 1 }, "within 1 seconds"),
        ("no SMTP", SMTPSink.Behavior { $0.greeting = "HTTP/1.1 400 Bad Request\r\n" }, { _ in }, "does not speak SMTP"),
        ("busy", SMTPSink.Behavior { $0.greeting = "421 later\r\n" }, { _ in }, "the connection was 421 later"),
    ]

    @Test(
        "A failed delivery delays no login; the reason is in /admin/emails and in the log, without passwords", arguments: failures
    )
    func reportsFailedDelivery(
        name: String, behavior: SMTPSink.Behavior, change: @escaping @Sendable (inout SMTPConfiguration) -> Void, reason: String
    ) async throws {
        try await SMTPSink.with(behavior) { sink in
            let log = RecordingLog()
            try await TestServer.run(configuration(sink.port, change), logger: log.logger) { server in
                #expect(try await sendEmail(server).step.callbacks.count == 1)
                let email = try await result(server)
                #expect(email["delivery"] == "failed" && email["reason"]?.string?.contains(reason) == true, "\(name): \(email)")
                // The tester can follow the link all the same.
                #expect(email["link"] != nil && sink.messages.isEmpty)
                #expect(log.lines.contains(reason) && !log.lines.contains("wrong-password"))
            }
        }
    }

    @Test("Text that arrives before the encryption is not taken for an answer of the encrypted connection")
    func refusesInjectedAnswers() async throws {
        let identity = try TestAuthority().identity(for: "localhost")
        let behavior = SMTPSink.Behavior {
            $0.identity = identity
            $0.injected = "250 ok\r\n"
        }
        try await SMTPSink.with(behavior) { sink in
            try await TestServer.run(configuration(sink.port) { $0.security = .startTLS }) { server in
                _ = try await sendEmail(server)
                let email = try await result(server)
                #expect(email["reason"]?.string?.contains("before the encryption began") == true, "\(email)")
            }
        }
    }

    @Test("A server that refuses connections, and a user without an address, are reported")
    func reportsMissingServerAndAddress() async throws {
        let port = try ReservedPort()
        try await TestServer.run(configuration(port.number)) { server in
            _ = try await sendEmail(server)
            #expect(try await result(server)["delivery"] == "failed")
            _ = try await sendEmail(server, to: "mira")
            let mira = try await server.admin(.get, "emails?user=mira").json["emails"]?.array?.first
            #expect(mira?["delivery"] == "failed" && mira?["reason"] == "the user has no address")
        }
    }

    /// Adds emails of another user to the queue of a server.
    private static func fill(_ queue: EmailQueue, with count: Int) {
        let recipient = EmailRecipient(user: UserKey(realm: .root, name: "kim"), exists: true, address: "kim@example.test")
        let content = EmailContent(subject: "S", text: "T", html: "H")
        for _ in 0..<count {
            queue.add(EmailDelivery(SentEmail(content, to: recipient, at: .distantPast), to: recipient))
        }
    }

    @Test("An email that a full queue drops is told at once, while the mail server answers nothing")
    func reportsDroppedEmailAtOnce() async throws {
        try await SMTPSink.with(SMTPSink.Behavior { $0.isSilent = true }) { sink in
            try await TestServer.run(configuration(sink.port)) { server in
                let queue = server.devServer.context.emailQueue
                // These keep the worker busy, so that the next email waits.
                Self.fill(queue, with: 2 * EmailDeliveryWorker.maxConcurrentDeliveries)
                _ = try await sendEmail(server)
                Self.fill(queue, with: EmailQueue.size)
                let email = try await result(server)
                #expect(email["delivery"] == "failed" && email["reason"] == "too many emails were waiting")
            }
        }
    }

    private static func deliveries(_ server: DevServer) async throws -> [SentEmail.Delivery?] {
        try await server.context.store.read { tx in try tx.emails.newest(10).map { $0.message?.delivery } }
    }

    @Test("An email without a result is told when the server stops, or at the start after its process was killed")
    func reportsEmailsOfStoppedServer() async throws {
        let stopped = SentEmail.Delivery.failed("the server stopped before the mail server had accepted it")
        try await SMTPSink.with(SMTPSink.Behavior { $0.isSilent = true }) { sink in
            let clock = ManualClock()
            let server = DevServer(configuration: configuration(sink.port), clock: clock, logger: .silent)
            try await TestServer.run(server, clock: clock) { server in
                _ = try await sendEmail(server)
                #expect(try await Self.deliveries(server.devServer) == [.queued])
            }
            #expect(try await Self.deliveries(server) == [stopped])
            // A killed process has stored nothing.
            try await server.context.store.write { tx in
                let id = try tx.emails.newest(1).first?.id
                try tx.emails.complete(try #require(id), of: EmailKey(UserKey(realm: .root, name: "noa")), .queued)
            }
            try await TestServer.run(server, clock: clock) { server in
                let isTold = try await eventually { try await Self.deliveries(server.devServer) == [stopped] }
                #expect(isTold)
            }
        }
    }

    @Test(
        "A subject cannot add a header field, and has whole characters in each encoded word",
        arguments: ["plain", "a\r\nBcc: x@example.test", "=?UTF-8?B?eA==?=", String(repeating: "\u{1F600}", count: 40), ""])
    func encodesSubject(subject: String) {
        let encoded = EncodedWords.encode(subject)
        let lines = encoded.components(separatedBy: "\r\n")
        let isShort = lines.allSatisfy { $0.utf8.count <= 200 }
        let isContinued = lines.dropFirst().allSatisfy { $0.hasPrefix(" =?UTF-8?B?") }
        #expect(isShort && isContinued)
        let expected = subject.replacing("\r\n", with: "  ").replacing("\r", with: " ").replacing("\n", with: " ")
        #expect(EncodedWords.decode(lines.joined()) == expected)
    }

    /// Sections `email` with mistakes, and a part of the message about each.
    static let mistakes: [(String, String)] = [
        ("{smtp: {}}", "`host` is missing"), ("{smtp: {host: localhost, port: 0}}", "1 to 65535"),
        ("{smtp: {host: localhost, security: ssl}}", "one of `none`, `starttls`"),
        ("{from: nobody, smtp: {host: localhost}}", "`from` must be an email address"),
        ("{smtp: {host: localhost, username: a}}", "`password` is missing"),
        ("{smtp: {host: mail.example, username: a, password: \"b\"}}", "needs `security: starttls`"),
        ("{smtp: {host: localhost, authorities: ca.pem}}", "`authorities` needs"),
        ("{smtp: {host: localhost, hots: x}}", "`hots`"),
        ("[]", "settings belong here"),
    ]

    @Test("A mistake in the section email is reported with its line, and without passwords", arguments: mistakes)
    func reportsMistakesOfSection(section: String, word: String) {
        do {
            _ = try ServerConfiguration(yaml: "email: \(section)\n")
            Issue.record("the section was accepted")
        } catch {
            let isReported = error.problems.contains { $0.description.contains(word) && $0.position.line == 1 }
            #expect(isReported, "\(error)")
        }
    }

    @Test("The section email sets the mail server")
    func readsSection() throws {
        let text = """
            email:
              from: login@harbor.example
              smtp: {host: mail.harbor.example, port: 587, security: starttls, username: signet, password: "x", timeout: 5}
            """
        let smtp = try #require(try ServerConfiguration(yaml: text).smtp)
        #expect(smtp.host == "mail.harbor.example" && smtp.port == 587 && smtp.security == .startTLS && smtp.timeout == 5)
        #expect(smtp.sender == "login@harbor.example" && smtp.username == "signet" && smtp.password == Secret("x".utf8))
        #expect(try ServerConfiguration(yaml: "email: {from: a@b.example}").smtp == nil)
    }
}
