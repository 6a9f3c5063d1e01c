import HTTPTypes
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

extension TestServer {
    /// Starts the starter file's journey for a forgotten password, and returns the step after the link in the email.
    fileprivate func followResetLink(_ name: String = "mira") async throws -> Reply {
        var step = try await start("ForgottenPassword").step
        step.fill("NameCallback", .string(name))
        let suspended = try await next(step).step
        #expect(suspended.callbacks.map(\.type) == ["SuspendedTextOutputCallback"])
        let token = try #require(try await devServer.emailLinks(to: name).last?.split(separator: "suspendedId=").last)
        return try await send(.post, "\(Self.authenticate)?suspendedId=\(token)")
    }

    /// Runs the starter file's journey for a forgotten password.
    fileprivate func resetPassword(to password: String) async throws -> Reply {
        var step = try await followResetLink().step
        step.fill("PasswordCallback", "Argo")
        step = try await next(step).step
        try step.fill("ValidatedCreatePasswordCallback", "", .string(password))
        return try await next(step)
    }
}

extension ServerConfiguration {
    /// The sample configuration, in which mira has answered a security question.
    fileprivate static func withAnswer(_ configure: (inout Self) -> Void = { _ in }) -> ServerConfiguration {
        .sample {
            $0.users[0].securityAnswers = ["Which ship?": Secret("Argo".utf8)]
            configure(&$0)
        }
    }
}

@Suite("Forgotten passwords")
struct ForgottenPasswordTests {
    @Test("A new password needs the link in an email and the answer to a question, in this order")
    func needsLinkAndAnswer() async throws {
        try await TestServer.run(.withAnswer()) { server async throws in
            #expect(try await server.resetPassword(to: "Another-1").isLoggedIn)
            #expect(try await server.logIn("Login", password: "Another-1").isLoggedIn)
            #expect(try await server.logIn("Login").isLoggedIn == false)
        }
    }

    @Test("An attacker who reads the emails of a user but does not know the answer gets no new password")
    func linkAloneIsNotEnough() async throws {
        try await TestServer.run(.withAnswer()) { server in
            var reply = try await server.followResetLink()
            for _ in 0..<3 {
                var step = try reply.step
                #expect(step.callbacks.map(\.type) == ["PasswordCallback"])
                #expect(step.callbacks[0].output("prompt") == "Which ship?")
                step.fill("PasswordCallback", "Beagle")
                reply = try await server.next(step)
            }
            #expect(reply.status == 401 && reply.message == "Login failure")
        }
    }

    @Test("A user without security questions gets no new password by email alone")
    func userWithoutQuestionsGetsNoPassword() async throws {
        try await TestServer.run(.withAnswer()) { server in
            let reply = try await server.followResetLink("noa")
            #expect(reply.status == 401 && reply.message == "Login failure")
        }
    }
}

@Suite("Sessions and tokens after a new password", .timeLimit(.minutes(5)))
struct NewPasswordTests {
    /// Ways to set a new password.
    enum Way: CaseIterable, Sendable {
        case forgotten, administrator
    }

    @Test("A new password ends the sessions, tokens and codes of an attacker who had the old one", arguments: Way.allCases)
    func endsEarlierLogins(way: Way) async throws {
        try await TestServer.run(.withAnswer { $0.adminToken = Secret(AdminTests.token.utf8) }) { server in
            let held = try await UserCredentials(server)
            let other = try await server.session(name: "noa", password: "staple")
            switch way {
            case .forgotten:
                let session = try #require(try await server.resetPassword(to: "Another-1").json["tokenId"]?.string)
                #expect(try await server.isValid(session), "the session of the login that sets the password")
            case .administrator:
                _ = try await server.admin(.patch, "users/mira", #"{"password": "Another-1"}"#)
            }
            try await held.expect(valid: false, at: server, "after the new password")
            let refresh = try await server.refresh(try #require(held.tokens.refresh))
            #expect(refresh.status == 400 && refresh.json["error"] == "invalid_grant")
            #expect(try await server.exchange(held.code).json["error"] == "invalid_grant")
            #expect(try await server.isValid(other), "another user's session")
            let session = try await server.session(password: "Another-1")
            let tokens = try Tokens(try await server.exchange(try await server.code(session)))
            #expect(try await server.refresh(try #require(tokens.refresh)).status == 200)
        }
    }

    /// A journey in which a user with the present password sets a new one.
    private static let change = """
        Change:
          nodes:
            login: {type: InnerTreeEvaluatorNode, tree: Login, outcomes: {true: password, false: failure}}
            password: {type: ValidatedPasswordNode, outcomes: {outcome: save}}
            save: {type: PatchObjectNode, outcomes: {PATCHED: success, FAILURE: failure}}
        """

    /// Sets a new password of mira, as an administrator does.
    private static func setPassword(_ password: String, at server: TestServer) async throws {
        let operations = AdminOperations(server: server.devServer.context)
        let isKnown = try await operations.change(
            UserKey(realm: .root, name: "mira"), isLocked: nil, password: Secret(password.utf8))
        #expect(isKnown)
    }

    @Test("A journey in which the user has a session sets a new password and gives the user a new session")
    func changeGivesNewSession() async throws {
        try await TestServer.run(journeys: Self.change) { server in
            let old = try await server.session()
            let path = "\(TestServer.authenticate)?authIndexType=service&authIndexValue=Change"
            let headers = ["iPlanetDirectoryPro": old, "Content-Type": "application/json"]
            var step = try await server.send(.post, path, headers: headers, body: "{}").step
            step.fill("NameCallback", "mira")
            step.fill("PasswordCallback", .string(TestServer.password))
            step = try await server.next(step).step
            step.fill("PasswordCallback", "new horse")
            let new = try #require(try await server.next(step).json["tokenId"]?.string)
            #expect(new != old)
            #expect(try await server.isValid(new))
            #expect(try await server.isValid(old) == false)
        }
    }

    @Test("A login that began with the old password does not end after a new one was set")
    func endsLoginsInProgress() async throws {
        let journeys = """
            Slow:
              nodes:
                login: {type: InnerTreeEvaluatorNode, tree: Login, outcomes: {true: message, false: failure}}
                message: {type: MessageNode, outcomes: {true: success, false: failure}}
            """
        try await TestServer.run(journeys: journeys) { server in
            for isChanged in [false, true] {
                var step = try await server.logIn("Slow").step
                step.fill("ConfirmationCallback", .integer(0))
                if isChanged { try await Self.setPassword("new horse", at: server) }
                #expect(try await server.next(step).isLoggedIn == !isChanged)
            }
        }
    }

    @Test("A journey that began with the old password changes nothing after a new one was set")
    func stopsChangesInProgress() async throws {
        try await TestServer.run(journeys: Self.change) { server in
            var step = try await server.logIn("Change").step
            step.fill("PasswordCallback", "attacker's horse")
            try await Self.setPassword("new horse", at: server)
            #expect(try await server.next(step).status == 401)
            #expect(try await server.logIn("Login", password: "attacker's horse").isLoggedIn == false)
            #expect(try await server.logIn("Login", password: "new horse").isLoggedIn)
        }
    }

    @Test("A phone can't register by an invitation that was made before a new password")
    func endsInvitations() async throws {
        try await TestServer.run { server in
            for isChanged in [false, true] {
                let step = try await server.logIn("PushRegistration").step
                let phone = try Phone(uri: try step.registrationURI, uid: "phone \(isChanged)")
                if isChanged { try await Self.setPassword("new horse", at: server) }
                #expect(try await phone.register(at: server).status == (isChanged ? 400 : 200))
                #expect(try await server.poll(step).isLoggedIn == !isChanged)
            }
        }
    }

    // MARK: Users of the same name

    private static let kim = UserKey(realm: .root, name: "kim")

    /// The configuration with a user kim.
    private static func withKim(_ configuration: inout ServerConfiguration) {
        configuration.users.append(User(name: "kim", password: Secret(TestServer.password.utf8)))
    }

    /// Registers a user kim by the starter file's journey.
    private static func register(_ server: TestServer) async throws -> Reply {
        var step = try await server.start("Registration").step
        try step.fillRegistration("kim", password: "Staple42!")
        return try await server.next(step)
    }

    /// Gives kim devices and recovery codes.
    private static func addDevices(_ server: TestServer) async throws {
        let now = server.clock.now
        try await server.devServer.context.store.write { tx in
            tx.devices.save(EnrollmentStyle().newOATHDevice(), for: kim)
            try tx.devices.save(
                OtherDevice(kind: .binding, resourceID: "r", name: "Laptop", registeredAt: now, lastUsedAt: now), for: kim)
            try tx.devices.keep(RecoveryCodes.new(for: .oath, "OATH Device"), for: .oath, of: kim)
        }
    }

    private static func deviceCount(_ server: TestServer) async throws -> Int {
        try await server.devServer.context.store.read { tx in
            try DeviceKind.allCases.reduce(0) { try $0 + tx.devices.count($1, of: kim) }
        }
    }

    @Test("A user who registers under the name of a removed user gets no session, token or device of that user")
    func registrationGetsNothingOfRemovedUser() async throws {
        try await StateLocation.with(.file) { location in
            let session = Mutex("")
            try await location.server(Self.withKim) { server in
                let old = try await server.session(name: "kim")
                session.withLock { $0 = old }
                try await Self.addDevices(server)
                #expect(try await Self.deviceCount(server) == 2)
            }
            let old = session.withLock { $0 }
            try await location.server { server async throws in
                #expect(try await Self.register(server).isLoggedIn)
                #expect(try await server.isValid(old) == false)
                #expect(try await Self.deviceCount(server) == 0)
            }
        }
    }

    @Test("A user of the configuration gets no session or device of an attacker who registered the name before")
    func configuredUserGetsNothingOfRegisteredOne() async throws {
        try await StateLocation.with(.file) { location in
            let session = Mutex("")
            try await location.server { server in
                let old = try #require(try await Self.register(server).json["tokenId"]?.string)
                session.withLock { $0 = old }
                try await Self.addDevices(server)
            }
            let old = session.withLock { $0 }
            try await location.server(Self.withKim) { server in
                #expect(try await server.isValid(old) == false)
                #expect(try await Self.deviceCount(server) == 0)
                #expect(try await server.logIn("Login", name: "kim").isLoggedIn)
                try await Self.addDevices(server)
            }
            try await location.server(Self.withKim) { server async throws in
                #expect(try await Self.deviceCount(server) == 2, "a restart with the same users changes nothing")
            }
        }
    }
}
