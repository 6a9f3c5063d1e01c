import Foundation
import HTTPTypes
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

/// A kind of row: makes a row of the kind, and checks later, at another server with the same state, that the row still has its
/// meaning.
///
/// Each kind has its own user, named after the kind.
struct RowCase: Sendable {
    typealias Check = @Sendable (TestServer) async throws -> Void

    let kind: RowKind
    let make: @Sendable (TestServer, _ user: UserKey) async throws -> Check

    init(_ kind: RowKind, _ make: @escaping @Sendable (TestServer, UserKey) async throws -> Check) {
        (self.kind, self.make) = (kind, make)
    }

    var user: UserKey { UserKey(realm: .root, name: kind.rawValue) }

    static let all = users + logins + logouts + usedTokens + devices + pushes + gateway + grants + requests + protection

    // MARK: Kinds

    private static let users = [
        RowCase(.user) { server, _ in
            var step = try await server.start("Registration").step
            try step.fillRegistration("newcomer", password: "Staple42!")
            #expect(try await server.next(step).isLoggedIn)
            return { server async throws in
                #expect(try await server.logIn("Login", name: "newcomer", password: "Staple42!").isLoggedIn)
                #expect(try await server.logIn("Login", name: "newcomer", password: "wrong").status == 401)
            }
        },
        RowCase(.changedUser) { server, user async throws in
            #expect(try await server.devServer.setLocked(true, user.name))
            return { server async throws in #expect(try await server.logIn("Login", name: user.name).status == 401) }
        },
        RowCase(.emails) { server, user in
            let link = try await server.email(to: user)
            return { server in
                let links = try await server.devServer.emailLinks(to: user.name)
                #expect(links == [link])
            }
        },
    ]

    private static let logins = [
        RowCase(.session) { server, user in
            let session = try await server.session(name: user.name)
            return { server async throws in
                let info = try await server.send(
                    .post, "/am/json/realms/root/sessions?_action=getSessionInfo",
                    headers: ["iPlanetDirectoryPro": session, "Content-Type": "application/json"], body: "{}")
                #expect(info.json["username"] == .string(user.name))
            }
        },
        RowCase(.journey) { server, user in
            var step = try await server.start("Login").step
            step.fill("NameCallback", .string(user.name))
            step.fill("PasswordCallback", .string(TestServer.password))
            return { [step] server async throws in
                #expect(try await server.next(step).isLoggedIn)
                #expect(try await !server.next(step).isLoggedIn, "a handle is valid once")
            }
        },
        RowCase(.suspendedJourney) { server, user in
            let token = try #require(try await server.email(to: user).split(separator: "suspendedId=").last)
            return { server async throws in
                #expect(try await server.send(.post, "\(TestServer.authenticate)?suspendedId=\(token)").isLoggedIn)
            }
        },
        RowCase(.loginFlow) { server, user in
            let browser = PageBrowser(server)
            let page = try await browser.get("/am/XUI/?realm=/")
            let cookies = browser.cookies
            return { server async throws in
                let browser = PageBrowser(server, cookies: cookies)
                _ = try await browser.signIn(page, name: user.name)
                #expect(try await server.isSession(browser.cookies["iPlanetDirectoryPro"]))
            }
        },
        RowCase(.console) { server, _ in
            let browser = PageBrowser(server)
            let link = try await server.devServer.consoleLink().replacing("http://127.0.0.1:8080", with: "")
            #expect(try await browser.get(link).heading == "Console")
            let cookies = browser.cookies
            return { server async throws in
                #expect(try await PageBrowser(server, cookies: cookies).get("/am/console").heading == "Console")
                #expect(try await PageBrowser(server).get(link).status == 403, "a link is valid once")
            }
        },
    ]

    private static let devices = [
        RowCase(.pushDevice) { server, user in
            let phone = try await server.phone(of: user)
            return { server async throws in
                #expect(try await server.logIn("PushLogin", name: user.name).status == 200)
                let push = try #require(try await server.inbox(phone.uid).last)
                #expect(try await phone.answer(push, at: server).status == 200)
            }
        },
        RowCase(.pushOwner) { server, user in
            let phone = try await server.phone(of: user)
            return { server async throws in
                let nonce = try await server.devServer.context.store.read { tx in try tx.nonces.issue()
                }
                let proof = CompactJWS.sign(
                    JSON.encode(PushStreamProof(mechanismUid: phone.uid, nonce: nonce)), with: phone.secret)
                let mechanism = try await server.devServer.context.store.write { tx in
                    try tx.mechanism(provenBy: proof, realm: .root)
                }
                #expect(mechanism == phone.uid)
            }
        },
        RowCase(.oathDevice) { server, user in
            let step = try await server.logIn("OATHRegistration", name: user.name).step
            let oath = try #require(try EnrollmentURI.parse(try step.registrationURI).oath)
            var prompt = try await server.next(step).step
            let used = oath.code(at: server.clock.now).digits
            prompt.fill("NameCallback", .string(used))
            #expect(try await server.next(prompt).isLoggedIn)
            return { server async throws in
                var step = try await server.logIn("OATHLogin", name: user.name).step
                step.fill("NameCallback", .string(used))
                step = try await server.next(step).step
                #expect(step.callbacks.map(\.type) == ["NameCallback"], "a code is valid once")
                let later = server.clock.now.addingTimeInterval(30)
                let stored = try await server.devServer.context.store.read { tx in try tx.devices.oathDevice(of: user) }
                var verifier = try #require(stored?.verifier)
                #expect(verifier.verify(oath.code(at: later).digits, at: later) == .accepted)
            }
        },
        RowCase(.otherDevices) { server, user in
            let device = OtherDevice(
                kind: .binding, resourceID: "r", name: "Laptop", registeredAt: server.clock.now, lastUsedAt: server.clock.now,
                details: ["deviceId": "d"])
            try await server.devServer.context.store.write { tx in try tx.devices.save(device, for: user) }
            return { server async throws in
                let found = try await server.devServer.context.store.read { tx in try tx.devices.others(.binding, of: user) }
                #expect(found == [device])
            }
        },
        RowCase(.recoveryCodes) { server, user in
            let codes = RecoveryCodes.new(for: .oath, "OATH Device")
            let wasTaken = try await server.devServer.context.store.write { tx in
                try tx.devices.keep(codes, for: .oath, of: user)
                return try tx.devices.redeem(codes.codes[0], for: .oath, of: user)
            }
            #expect(wasTaken)
            return { server async throws in
                let taken = try await server.devServer.context.store.write { tx in
                    try codes.codes.map { try tx.devices.redeem($0, for: .oath, of: user) }
                }
                #expect(taken == [false] + [Bool](repeating: true, count: RecoveryCodes.count - 1))
            }
        },
    ]

    private static let pushes = [
        RowCase(.registration) { server, user in
            let step = try await server.logIn("PushRegistration", name: user.name).step
            let phone = try Phone(uri: try step.registrationURI, uid: "phone of \(user.name)")
            return { server async throws in
                #expect(try await phone.register(at: server).status == 200)
                #expect(try await server.poll(step).isLoggedIn)
            }
        },
        RowCase(.push) { server, user in
            let phone = try await server.phone(of: user)
            let step = try await server.logIn("PushLogin", name: user.name).step
            let push = try #require(try await server.inbox(phone.uid).last)
            return { server async throws in
                #expect(try await phone.answer(push, at: server).status == 200)
                #expect(try await phone.answer(push, ["deny": .bool(true)], at: server).status == 400, "an answer counts once")
                #expect(try await server.poll(step).isLoggedIn)
            }
        },
        RowCase(.inbox) { server, user in
            let phone = try await server.phone(of: user)
            #expect(try await server.logIn("PushLogin", name: user.name).status == 200)
            let first = try await server.inbox(phone.uid).map(\.eventID)
            return { server async throws in
                #expect(try await server.logIn("PushLogin", name: user.name).status == 200)
                let both = try await server.inbox(phone.uid).map(\.eventID)
                #expect(both.count == 2 && Array(both.prefix(1)) == first && both[1] > both[0])
            }
        },
    ]

    private static let gateway = [
        RowCase(.gatewayEndpoint) { server, user in
            let inbox = try PushInbox(of: user)
            let endpoint = try await Sender().endpoint(inbox.address, at: server)
            return { server async throws in #expect(try await Sender().endpoint(inbox.address, at: server) == endpoint) }
        },
        RowCase(.gatewayInbox) { server, user in
            let inbox = try PushInbox(of: user)
            let endpoint = try await Sender().endpoint(inbox.address, at: server)
            return { server async throws in
                let delivery = PushDelivery(messageId: "1", message: "a")
                #expect(try await Sender().publish(delivery, to: endpoint, at: server).status == 200)
                #expect(try await server.waiting(in: inbox) == ["1"])
            }
        },
        RowCase(.gatewayMessage) { server, user in
            let inbox = try PushInbox(of: user)
            let endpoint = try await Sender().endpoint(inbox.address, at: server)
            let delivery = PushDelivery(messageId: "1", message: "a")
            #expect(try await Sender().publish(delivery, to: endpoint, at: server).status == 200)
            return { server async throws in #expect(try await server.waiting(in: inbox) == ["1"]) }
        },
        RowCase(.dispatch) { server, user in
            let phone = try await server.phone(of: user)
            #expect(try await server.logIn("PushLogin", name: user.name).status == 200)
            let id = try #require(try await server.inbox(phone.uid).last).messageID
            try await server.devServer.context.store.write { tx in
                guard let push = try tx.pushes.entry(id) else { return }
                let end = tx.now.addingTimeInterval(600)
                tx.dispatches.store(PushDispatch(push, text: "Hello", endpoint: "e", token: "token", until: end))
            }
            return { server async throws in
                let found = try await server.devServer.context.store.read { tx in
                    (try tx.dispatches[id], try tx.dispatches.unclaimed(machine: tx.now))
                }
                #expect(found.0?.state == .waiting && found.0?.endpoint == "e" && found.1.contains(id))
            }
        },
    ]

    private static let grants = [
        RowCase(.code) { server, user in
            let code = try await server.code(try await server.session(name: user.name))
            return { server async throws in #expect(try await server.exchange(code).status == 200) }
        },
        RowCase(.accessToken) { server, user in
            // The first tokens are in the row of their grant.
            let first = try #require(try await server.tokens(of: user).refresh)
            let tokens = try Tokens(try await server.refresh(first))
            return { server async throws in
                #expect(try await server.userInfo(tokens.access).json["sub"] == .string(user.name))
                #expect(try await server.claims(try #require(tokens.id))["sub"] == .string(user.name))
            }
        },
        RowCase(.refreshToken) { server, user in
            let first = try #require(try await server.tokens(of: user).refresh)
            let refresh = try #require(try Tokens(try await server.refresh(first)).refresh)
            return { server async throws in #expect(try await server.refresh(refresh).status == 200) }
        },
        RowCase(.grant) { server, user in
            let code = try await server.code(try await server.session(name: user.name))
            let tokens = try Tokens(try await server.exchange(code))
            return { server async throws in
                #expect(try await server.exchange(code).status == 400)
                #expect(try await server.userInfo(tokens.access).status == 401, "a repeated code revokes its tokens")
            }
        },
        RowCase(.consent) { server, user in
            let session = try await server.session(name: user.name)
            let page = try await server.authorize(session, client: "asking")
            var form = page.hiddenFields
            (form["decision"], form["save_consent"]) = ("allow", "on")
            let saved = try await server.postForm("authorize", form, headers: ["iPlanetDirectoryPro": session])
            #expect(try saved.location["code"] != nil)
            return { server async throws in
                let again = try await server.authorize(session, client: "asking")
                #expect(again.status == 302)
            }
        },
        RowCase(.deviceCode) { server, _ in
            let code = try #require(try await server.deviceCodes()["device_code"]?.string)
            return { server async throws in #expect(try await server.redeem(deviceCode: code).error == "authorization_pending") }
        },
        RowCase(.userCode) { server, user in
            let codes = try await server.deviceCodes()
            let (code, userCode) = (try #require(codes["device_code"]?.string), try #require(codes["user_code"]?.string))
            return { server async throws in
                let session = try await server.session(name: user.name)
                let form: [String: String?] = ["user_code": userCode, "decision": "allow", "csrf": session]
                let allowed = try await server.postForm("device/user", form, headers: ["iPlanetDirectoryPro": session])
                #expect(allowed.status == 200)
                #expect(try await server.redeem(deviceCode: code).status == 200)
            }
        },
    ]

    private static let protection = [
        RowCase(.nonce) { server, _ in
            let nonce = try await server.devServer.context.store.read { tx in try tx.nonces.issue() }
            #expect(try await server.isFresh(nonce))
            return { server async throws in
                let isFresh = try await server.isFresh(nonce)
                #expect(!isFresh, "a nonce is valid once")
            }
        },
        RowCase(.guesses) { server, user async throws in
            let limit = RateLimit(perMinute: 1, burst: 1)
            #expect(try await server.guess(at: user, limit) == nil)
            return { server in
                let wait = try await server.guess(at: user, limit)
                #expect(wait != nil)
            }
        },
        RowCase(.lockout) { server, user in
            let locks = try await server.devServer.context.store.write { tx in
                try tx.lockouts.fail(user, Lockout(failures: 1))
            }
            #expect(locks)
            return { server async throws in
                let isLocked = try await server.devServer.context.store.read { tx in
                    try tx.lockouts.isLocked(user)
                }
                #expect(isLocked)
            }
        },
    ]
}

extension TestServer {
    /// Registers a phone for a user.
    fileprivate func phone(of user: UserKey) async throws -> Phone {
        try await registeredPhone(uid: "phone of \(user.name)", name: user.name)
    }

    /// The ids of the messages in an inbox of the push gateway.
    fileprivate func waiting(in inbox: PushInbox) async throws -> [String] {
        try await devServer.context.store.read { tx in
            try tx.gateway.retained(for: inbox.address, after: nil).map(\.messageID)
        }
    }

    fileprivate func tokens(of user: UserKey) async throws -> Tokens {
        try Tokens(try await exchange(try await code(try await session(name: user.name))))
    }

    /// Sends an email to a user and returns its link.
    fileprivate func email(to user: UserKey) async throws -> String {
        var step = try await start("EmailLogin").step
        step.fill("NameCallback", .string(user.name))
        #expect(try await next(step).status == 200)
        return try #require(try await devServer.emailLinks(to: user.name).last)
    }

    fileprivate func isSession(_ token: String?) async throws -> Bool {
        let path = "/am/json/realms/root/sessions?_action=validate&tokenId=\(token ?? "none")"
        return try await send(.post, path, body: "{}").json["valid"] == .bool(true)
    }

    /// Redeems a nonce as a valid proof does.
    fileprivate func isFresh(_ nonce: String) async throws -> Bool {
        try await devServer.context.store.write { tx in try tx.nonces.redeem(nonce) }
    }

    fileprivate func guess(at user: UserKey, _ limit: RateLimit) async throws -> Int? {
        try await devServer.context.store.write { tx in try tx.guesses.take(user, limit) }
    }

    func deviceCodes() async throws -> JSONValue {
        try await postForm(
            "device/code",
            [
                "client_id": "app", "scope": "openid", "code_challenge": ProofKey.challenge(for: Self.verifier),
                "code_challenge_method": "S256",
            ]
        ).json
    }

    func redeem(deviceCode: String) async throws -> Reply {
        try await postForm(
            "access_token",
            [
                "grant_type": "urn:ietf:params:oauth:grant-type:device_code", "client_id": "app", "device_code": deviceCode,
                "code_verifier": Self.verifier,
            ])
    }
}

extension PushInbox {
    fileprivate init(of user: UserKey) throws { try self.init(of: Secret("the secret of \(user.name), of 32 bytes".utf8)) }
}

extension JourneyStep {
    /// Fills in the registration page of the starter configuration.
    mutating func fillRegistration(_ name: String, password: String) throws {
        try fill("ValidatedCreateUsernameCallback", "", .string(name))
        try fill("ValidatedCreatePasswordCallback", "", .string(password))
        let texts = callbacks.indices.filter { callbacks[$0].type == "StringAttributeInputCallback" }
        callbacks[texts[0]].answer("New")
        callbacks[texts[1]].answer("new@example.test")
        try fill("KbaCreateCallback", "question", "What was your first pet?")
        try fill("KbaCreateCallback", "answer", "Rex")
        fill("TermsAndConditionsCallback", .bool(true))
    }
}
