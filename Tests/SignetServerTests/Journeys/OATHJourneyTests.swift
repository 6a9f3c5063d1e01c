import Foundation
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

@Suite("One-time codes in journeys")
struct OATHJourneyTests {
    /// Registers a device and returns its settings.
    private func register(_ server: TestServer) async throws -> OATHSettings {
        let step = try await server.logIn("OATHRegistration").step
        let enrollment = try EnrollmentURI.parse(try step.registrationURI)
        let oath = try #require(enrollment.oath)
        var prompt = try await server.next(step).step
        prompt.fill("NameCallback", .string(oath.code(at: server.clock.now).digits))
        #expect(try await server.next(prompt).json["tokenId"] != nil)
        return oath
    }

    private func enter(_ code: String, _ step: JourneyStep, _ server: TestServer) async throws -> Reply {
        var step = step
        step.fill("NameCallback", .string(code))
        return try await server.next(step)
    }

    @Test("The registration page shows a URI and a button, and the next step asks for a code")
    func registrationShowsURIThenAsksForCode() async throws {
        try await TestServer.run { server in
            let step = try await server.logIn("OATHRegistration").step
            #expect(
                step.callbacks.map(\.type) == [
                    "TextOutputCallback", "TextOutputCallback", "HiddenValueCallback", "ConfirmationCallback",
                ])
            let enrollment = try EnrollmentURI.parse(try step.registrationURI)
            #expect(enrollment.account == AccountID(issuer: "Signet", accountName: "mira"))
            #expect(enrollment.oath?.secret.count == 20)
            #expect(enrollment.oath?.factor == .time(period: .thirtySeconds))
            #expect(enrollment.push == nil)
            #expect(try await server.next(step).step.callbacks.map(\.type) == ["NameCallback"])
        }
    }

    @Test("A device is stored after its first right code, not before")
    func storesDeviceAfterFirstCode() async throws {
        try await TestServer.run { server in
            let step = try await server.logIn("OATHRegistration").step
            let prompt = try await server.next(step).step
            #expect(try await server.logIn("OATHLogin").message == "Login failure")
            var reply = try await enter("000000", prompt, server)
            reply = try await enter("000000", reply.step, server)
            #expect(try await enter("000000", reply.step, server).message == "Login failure")
            #expect(try await server.logIn("OATHLogin").message == "Login failure")
        }
    }

    @Test("A right one-time code logs the user in once, and a code used at registration is refused")
    func refusesUsedCode() async throws {
        try await TestServer.run { server in
            let oath = try await register(server)
            let used = oath.code(at: server.clock.now).digits
            let refused = try await enter(used, try await server.logIn("OATHLogin").step, server)
            #expect(try refused.step.callbacks.map(\.type) == ["NameCallback"])
            server.clock.advance(by: 30)
            let fresh = oath.code(at: server.clock.now).digits
            #expect(try await enter(fresh, refused.step, server).json["tokenId"] != nil)
            let again = try await enter(fresh, try await server.logIn("OATHLogin").step, server)
            #expect(again.json["authId"] != nil)
        }
    }

    @Test("A login allows three one-time codes, and a code may have spaces")
    func allowsThreeAttempts() async throws {
        try await TestServer.run { server in
            let oath = try await register(server)
            server.clock.advance(by: 30)
            var step = try await server.logIn("OATHLogin").step
            step = try await enter("1", step, server).step
            step = try await enter("", step, server).step
            #expect(try await enter("12345678", step, server).message == "Login failure")

            let digits = oath.code(at: server.clock.now).digits
            let spaced = try await enter(
                " \(digits.prefix(3)) \(digits.suffix(3)) ", try await server.logIn("OATHLogin").step, server)
            #expect(spaced.json["tokenId"] != nil)
        }
    }

    @Test("S16: The drift of the device's clock is stored, and the window moves with it")
    func storesDrift() async throws {
        try await TestServer.run { server in
            let oath = try await register(server)
            server.clock.advance(by: 300)
            // The offsets that OpenAM 16.0.5 was sent within one step, and whether the login continued.
            let rows = [(-3, false), (-2, true), (2, false), (1, false), (0, false), (2, false), (-1, false)]
            for (offset, isGranted) in rows {
                let code = oath.code(at: server.clock.now.addingTimeInterval(Double(offset) * 30)).digits
                let reply = try await enter(code, try await server.logIn("OATHLogin").step, server)
                #expect((reply.json["tokenId"] != nil) == isGranted, "\(offset)")
            }
            let stored = try await server.devServer.context.store.read { tx in
                try tx.devices.oathDevice(of: UserKey(realm: .root, name: "mira"))
            }
            #expect(stored?.verifier.drift == -2)
            server.clock.advance(by: 30)
            let behind = oath.code(at: server.clock.now.addingTimeInterval(-60)).digits
            #expect(try await enter(behind, try await server.logIn("OATHLogin").step, server).json["tokenId"] != nil)
        }
    }

    @Test("Of many concurrent logins with one code, one succeeds")
    func acceptsOneOfManyConcurrentCodes() async throws {
        try await TestServer.run { server in
            let oath = try await register(server)
            server.clock.advance(by: 30)
            let code = oath.code(at: server.clock.now).digits
            var steps: [JourneyStep] = []
            for _ in 0..<20 { steps.append(try await server.logIn("OATHLogin").step) }
            let replies = try await withThrowingTaskGroup(of: Reply.self) { group in
                for step in steps { group.addTask { try await enter(code, step, server) } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            let granted = replies.filter { $0.json["tokenId"] != nil }
            #expect(granted.count == 1)
        }
    }

    @Test("The server looks ahead of a device's counter, and never accepts a counter twice")
    func looksAheadOfCounter() throws {
        var server = ServerTransaction(users: ServerConfiguration.sample().users, trees: [])
        let user = UserKey(realm: .root, name: "mira")
        let device = EnrollmentStyle(usesCounter: true).newOATHDevice()
        server.devices.save(device, for: user)
        func enter(_ counter: UInt64) throws -> NodeResult {
            let code = HOTP.code(secret: device.verifier.settings.secret, counter: counter)
            var asked = JourneyCallback.numbered([.name(prompt: "")])
            asked[0].answer(.string(code))
            var journey = JourneyState.sample()
            journey.username = "mira"
            return try OATHTokenVerifierNode().process(Answers(asked, filledIn: nil), &journey, &server)
        }
        #expect(try enter(3).outcome == .successOutcome)
        #expect(try enter(3).outcome == .failureOutcome)
        #expect(try enter(2).outcome == .failureOutcome)
        #expect(try enter(4).outcome == .successOutcome)
    }
}
