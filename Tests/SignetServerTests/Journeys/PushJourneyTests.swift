import Foundation
import HTTPTypes
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

@Suite("Push registration")
struct PushRegistrationTests {
    @Test("The registration page shows a URI that every authenticator can read")
    func registrationURIHasPushSettings() async throws {
        try await TestServer.run(
            .sample {
                $0.issuer = "Harbor Bank"
                $0.backgroundColor = "336699"
                $0.publicURL = "https://am.example.test:8443/am"
            }
        ) { server in
            let step = try await server.logIn("PushRegistration").step
            #expect(
                step.callbacks.map(\.type) == [
                    "TextOutputCallback", "TextOutputCallback", "HiddenValueCallback", "PollingWaitCallback",
                ])
            #expect(step.callbacks[2].input?.map(\.name) == ["IDToken3"])
            let enrollment = try EnrollmentURI.parse(try step.registrationURI)
            let push = try #require(enrollment.push)
            #expect(enrollment.account == AccountID(issuer: "Harbor Bank", accountName: "mira"))
            #expect(enrollment.backgroundColor == "#336699")
            #expect(enrollment.oath == nil)
            #expect(push.secret.count == 32)
            #expect(push.challenge.count == 32)
            #expect(push.messageID.hasPrefix("REGISTER:"))
            #expect(push.messageID.hasSuffix("1735689600000"))
            #expect(push.loadBalancerCookie == "amlbcookie=01")
            #expect(push.registrationEndpoint.url == "https://am.example.test:8443/am/json/push/sns/message?_action=register")
            #expect(
                push.authenticationEndpoint.url == "https://am.example.test:8443/am/json/push/sns/message?_action=authenticate")
        }
    }

    @Test("A device of another realm registers at the address of that realm")
    func registersInRealm() async throws {
        try await TestServer.run(.sample { $0.port = 8080 }) { server in
            let alpha = "/am/json/realms/root/realms/alpha/authenticate"
            let step = try await server.logIn("PushRegistration", password: "other", at: alpha).step
            let phone = try Phone(uri: try step.registrationURI, uid: "p")
            #expect(
                phone.invitation.registrationEndpoint.url
                    == "http://127.0.0.1:8080/am/json/alpha/push/sns/message?_action=register")
            let elsewhere = PushRequestBody(
                messageId: phone.invitation.messageID,
                jwt: CompactJWS.sign(try JSON.encode(phone.registration), with: phone.secret))
            #expect(try await server.post("/am/json/push/sns/message?_action=register", elsewhere).status == 400)
            let reply = try await phone.register(at: server)
            #expect(reply.header("Link") == "<http://127.0.0.1:8080/am/json/alpha/push/stream>; rel=\"signet-push-stream\"")
            #expect(try await server.poll(step, at: alpha).json["realm"] == "/alpha")
        }
    }

    @Test("The browser waits until the device has registered, and then gets a session")
    func logsInAfterRegistration() async throws {
        try await TestServer.run { server in
            var step = try await server.logIn("PushRegistration").step
            let uri = try step.registrationURI
            step = try await server.poll(step).step
            #expect(step.hiddenValue("mfaDeviceRegistration") == uri)
            let reply = try await Phone(uri: uri, uid: "p").register(at: server)
            #expect(reply.status == 200)
            #expect(reply.text == "{}")
            #expect(reply.header("Content-API-Version") == "resource=1.0")
            #expect(try await server.poll(step).json["tokenId"] != nil)
        }
    }

    @Test("The server stores the name, type and token that the device sends")
    func storesDeviceDetails() async throws {
        try await TestServer.run { server in
            let phone = try await server.registeredPhone()
            let stored = try await server.devServer.context.store.read { tx in
                try tx.devices.pushDevice(mechanismUID: phone.uid)
            }
            let device = try #require(stored)
            #expect(device.owner == UserKey(realm: .root, name: "mira"))
            #expect(device.secret == phone.secret)
            #expect(
                [device.deviceID, device.deviceName, device.deviceType, device.communicationType] == [
                    "token", "Test phone", "android", "gcm",
                ])
            #expect(device.resourceID == phone.invitation.resourceID)
            #expect(device.communicationID == "stream:\(device.resourceID)")
        }
    }

    @Test("A device can retry a registration until the registration expires", arguments: [(119.0, 200), (120, 400)])
    func retriesRegistrationUntilExpiry(seconds: Double, status: Int) async throws {
        try await TestServer.run { server in
            let step = try await server.logIn("PushRegistration").step
            let phone = try Phone(uri: try step.registrationURI, uid: "p")
            var wrong = phone.registration
            wrong["response"] = "AAAA"
            #expect(try await phone.register(at: server, claims: wrong).status == 400)
            server.clock.advance(by: seconds)
            #expect(try await phone.register(at: server).status == status)
            let end = try await server.poll(step)
            #expect(end.status == (status == 200 ? 200 : 401))
        }
    }

    @Test(
        "A registration with a missing claim, or one that is not a string, is refused",
        arguments: ["response", "mechanismUid", "deviceId", "deviceName", "deviceType", "communicationType"],
        [nil, "", .integer(5), .null, .array([])] as [JSONValue?])
    func refusesRegistrationWithInvalidClaim(name: String, value: JSONValue?) async throws {
        try await TestServer.run { server in
            let step = try await server.logIn("PushRegistration").step
            let phone = try Phone(uri: try step.registrationURI, uid: "p")
            var claims = phone.registration
            claims[name] = value
            let reply = try await phone.register(at: server, claims: claims)
            #expect(reply.status == 400)
            #expect(reply.message == "Bad request.")
            #expect(try await phone.register(at: server).status == 200)
        }
    }

    @Test("Of many concurrent registrations with one URI, the server stores one")
    func storesOneOfManyConcurrentRegistrations() async throws {
        try await TestServer.run { server in
            let step = try await server.logIn("PushRegistration").step
            let phone = try Phone(uri: try step.registrationURI, uid: "p")
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for index in 0..<20 {
                    let claims = phone.registration.merging(["mechanismUid": .string("p\(index)")]) { $1 }
                    group.addTask { try await phone.register(at: server, claims: claims).status }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses.sorted() == [200] + Array(repeating: 400, count: 19))
            let stored = try await server.devServer.context.store.read { tx in
                try (0..<20).filter { try tx.devices.pushDevice(mechanismUID: "p\($0)") != nil }
            }
            #expect(stored.count == 1)
        }
    }

    @Test("S14: A registration that is sent again is 200 and changes nothing")
    func repeatedRegistrationChangesNothing() async throws {
        try await TestServer.run { server in
            let step = try await server.logIn("PushRegistration").step
            let phone = try Phone(uri: try step.registrationURI, uid: "p")
            func stored() async throws -> PushDevice? {
                try await server.devServer.context.store.read { tx in
                    try tx.devices.pushDevice(of: UserKey(realm: .root, name: "mira"))
                }
            }
            let first = try await phone.register(at: server)
            let device = try #require(try await stored())
            server.clock.advance(by: 5)
            let renamed = phone.registration.merging(["deviceName": "Other"]) { $1 }
            for claims in [phone.registration, renamed] {
                let again = try await phone.register(at: server, claims: claims)
                #expect(again.status == 200 && again.text == "{}" && again.header("Link") == first.header("Link"))
                #expect(try await stored() == device)
            }
            for change in [["response": "AAAA"], ["mechanismUid": "q"]] as [[String: JSONValue]] {
                let wrong = phone.registration.merging(change) { $1 }
                #expect(try await phone.register(at: server, claims: wrong).status == 400)
                #expect(try await stored() == device)
            }
            #expect(try await server.poll(step).json["tokenId"] != nil)
            #expect(try await phone.register(at: server).status == 200)
            server.clock.advance(by: 120)
            #expect(try await phone.register(at: server).status == 400)
        }
    }

    @Test("A mechanism id of another user is refused; a user can register the same id again")
    func mechanismIDBelongsToOneUser() async throws {
        try await TestServer.run { server in
            let first = try await server.registeredPhone(uid: "same")
            let step = try await server.logIn("PushRegistration", name: "noa", password: "staple").step
            let attacker = try Phone(uri: try step.registrationURI, uid: "same")
            #expect(try await attacker.register(at: server).status == 400)
            var own = attacker.registration
            own["mechanismUid"] = "another"
            #expect(try await attacker.register(at: server, claims: own).status == 200)

            let again = try await server.registeredPhone(uid: "same")
            #expect(again.secret != first.secret)
        }
    }

    @Test("A new push device replaces the old one and its pending messages")
    func newPushDeviceReplacesOldOne() async throws {
        try await TestServer.run { server in
            let old = try await server.registeredPhone(uid: "old")
            let (step, push) = try await server.waitingLogin(phone: old)
            let new = try await server.registeredPhone(uid: "new")
            #expect(try await server.inbox("old").isEmpty)
            #expect(try await old.answer(push, at: server).status == 400)
            #expect(try await server.poll(step).status == 401)
            let (_, message) = try await server.waitingLogin(phone: new)
            #expect(try await new.answer(message, at: server).status == 200)
        }
    }

    @Test(
        "An invalid public URL fails the journey instead of showing an unusable QR code", arguments: ["nonsense", "ftp://x/am"])
    func invalidPublicURLFailsRegistration(url: String) async throws {
        try await TestServer.run(.sample { $0.publicURL = url }) { server in
            let reply = try await server.logIn("PushRegistration")
            #expect(reply.status == 401)
        }
    }

    @Test("A combined registration registers one-time codes and push at once")
    func combinedRegistrationRegistersBoth() async throws {
        try await TestServer.run { server in
            let phone = try await server.registeredPhone("CombinedRegistration")
            let oath = try #require(phone.enrollment.oath)
            var step = try await server.logIn("OATHLogin").step
            step.fill("NameCallback", .string(oath.code(at: server.clock.now).digits))
            #expect(try await server.next(step).json["tokenId"] != nil)
            let (_, push) = try await server.waitingLogin(phone: phone)
            #expect(try await phone.answer(push, at: server).status == 200)
        }
    }

    @Test("An unfinished combined registration registers no device")
    func unfinishedCombinedRegistrationIsDropped() async throws {
        try await TestServer.run { server in
            let step = try await server.logIn("CombinedRegistration").step
            #expect(step.hiddenValue("mfaDeviceRegistration")?.hasPrefix("mfauth://totp/") == true)
            #expect(try await server.logIn("OATHLogin").status == 401)
        }
    }
}

@Suite("Push login")
struct PushLoginTests {
    @Test("An approved push message logs the user in", arguments: ["PushLogin", "PushBiometricLogin"])
    func approvalLogsIn(journey: String) async throws {
        try await TestServer.run { server in
            let phone = try await server.registeredPhone()
            var (step, push) = try await server.waitingLogin(journey, phone: phone)
            #expect(step.callbacks.map(\.type) == ["PollingWaitCallback"])
            step = try await server.poll(step).step
            #expect(try await phone.answer(push, at: server).status == 200)
            #expect(try await server.poll(step).json["tokenId"] != nil)
        }
    }

    @Test("A denied or expired push message ends the login")
    func denialOrExpiryFailsLogin() async throws {
        try await TestServer.run { server in
            let phone = try await server.registeredPhone()
            let (denied, push) = try await server.waitingLogin(phone: phone)
            #expect(try await phone.answer(push, ["deny": .bool(true)], at: server).status == 200)
            #expect(try await server.poll(denied).message == "Login failure")

            let (silent, _) = try await server.waitingLogin(phone: phone)
            server.clock.advance(by: 120)
            #expect(try await server.poll(silent).message == "Login failure")
        }
    }

    @Test("An approval in time counts, even if the browser polls after the message has expired")
    func approvalCountsForLateBrowser() async throws {
        try await TestServer.run { server in
            let phone = try await server.registeredPhone()
            let (step, push) = try await server.waitingLogin(phone: phone)
            #expect(try await phone.answer(push, at: server).status == 200)
            server.clock.advance(by: 200)
            #expect(try await server.poll(step).json["tokenId"] != nil)
        }
    }

    @Test("A user without a push device cannot log in by push")
    func pushLoginRequiresDevice() async throws {
        try await TestServer.run { server in
            let reply = try await server.logIn("PushLogin")
            #expect(reply.message == "Login failure")
        }
    }

    @Test(
        "A push message has the text, kind and fields of AM's",
        arguments: [("PushLogin", "default"), ("PushNumberLogin", "challenge"), ("PushBiometricLogin", "biometric")])
    func pushMessageHasFieldsOfAM(journey: String, kind: String) async throws {
        try await TestServer.run(
            .sample {
                $0.issuer = "Harbor Bank"
                $0.pushTimeout = 90
            }
        ) { server in
            let phone = try await server.registeredPhone()
            let (_, push) = try await server.waitingLogin(journey, phone: phone)
            let message = try SealedPushMessage(push.sealed).open(with: phone.secret)
            #expect(push.messageID.hasPrefix("AUTHENTICATE:"))
            #expect(message.mechanismUID == phone.uid)
            #expect(message.challenge.count == 32)
            #expect(message.timeToLive == 90)
            #expect(message.sentAt == server.clock.now)
            #expect(message.text == "Login attempt from mira at Harbor Bank")
            #expect(message.loadBalancerCookie == "amlbcookie=01")
            #expect(message.kind.wireName == kind)
            #expect(message.userID == "mira")
        }
    }

    @Test("A push message contains the User-Agent of the browser that logs in")
    func pushMessageNamesBrowser() async throws {
        try await TestServer.run { server in
            let phone = try await server.registeredPhone()
            var step = try await server.send(
                .post, "\(TestServer.authenticate)?authIndexValue=PushLogin", headers: ["User-Agent": "Browser \"1\""]
            ).step
            step.fill("NameCallback", "mira")
            step.fill("PasswordCallback", .string(TestServer.password))
            _ = try await server.next(step)
            let push = try #require(try await server.inbox(phone.uid).last)
            let message = try SealedPushMessage(push.sealed).open(with: phone.secret)
            #expect(message.contextInfo == "{\"userAgent\":\"Browser \\\"1\\\"\"}")
        }
    }

    @Test(
        "A push message contains the address of the client whose request sent it, as far as there is one",
        arguments: [
            ("203.0.113.9", #"{"remoteIp":"203.0.113.9"}"#), ("2001:db8::7", #"{"remoteIp":"2001:db8::7"}"#), ("", nil),
            (nil, nil),
        ] as [(String?, String?)])
    func pushMessageHasAddress(address: String?, context: String?) async throws {
        try await TestServer.run { server in
            let phone = try await server.registeredPhone()
            var step = try await server.start("PushLogin").step
            step.fill("NameCallback", "mira")
            step.fill("PasswordCallback", .string(TestServer.password))
            let body = try JSON.value(of: JSON.encode(step))
            let (authID, callbacks) = (step.authId, body["callbacks"])
            try await server.devServer.context.store.write { tx in
                tx.request = JourneyRequest(address: address)
                let continuation = JourneyContinuation(realm: .root, authID: authID, callbacks: callbacks, noSession: false)
                _ = try tx.proceed(continuation).get()
            }
            let push = try #require(try await server.inbox(phone.uid).last)
            let message = try SealedPushMessage(push.sealed).open(with: phone.secret)
            #expect(message.contextInfo == context)
        }
    }

    @Test("A device's inbox has a maximum number of pending messages, and a new message does not replace an older one")
    func limitsInbox() async throws {
        try await TestServer.run { server in
            let phone = try await server.registeredPhone()
            for _ in 0..<PushMessageStore.inboxCapacity { #expect(try await server.logIn("PushLogin").status == 200) }
            let first = try #require(try await server.inbox(phone.uid).first)
            #expect(try await server.logIn("PushLogin").status == 401)
            #expect(try await server.inbox(phone.uid).count == PushMessageStore.inboxCapacity)
            #expect(try await phone.answer(first, at: server).status == 200)
            #expect(try await server.logIn("PushLogin").status == 200)
        }
    }
}

@Suite("Polling in waits for push")
struct PollingTests {
    @Test(
        "Without a configured interval, the server asks the client for AM's poll intervals",
        arguments: [(0.0, 5000), (29, 5000), (30, 4000), (59, 4000), (60, 8000), (119, 8000)])
    func usesPollIntervalsOfAM(elapsed: Double, milliseconds: Int) {
        #expect(PollSchedule.milliseconds(elapsed: elapsed, timeout: 120, fixed: nil) == milliseconds)
        #expect(PollSchedule.milliseconds(elapsed: elapsed, timeout: 120, fixed: .milliseconds(250)) == 250)
    }

    @Test("A poll counts as early if it arrives more than two seconds before its time")
    func allowsTwoSecondsOfEarliness() async throws {
        let clock = ManualClock()
        var wait = PollingWait(milliseconds: 5000, from: clock.now)
        #expect(wait.poll(at: clock.now.addingTimeInterval(2.9)) == .early)
        #expect(wait.poll(at: clock.now.addingTimeInterval(3)) == .due)
        #expect(wait.poll(at: clock.now.addingTimeInterval(60)) == .due)
        #expect(wait.earlyPolls == 1)
    }

    @Test(
        "Three early polls get the same wait, and the fourth ends the login",
        arguments: ["PushLogin", "PushRegistration"])
    func fourthEarlyPollFailsLogin(journey: String) async throws {
        try await TestServer.run(.sample { $0.pollInterval = nil }) { server in
            _ = try await server.registeredPhone()
            var step = try await server.logIn(journey).step
            for _ in 0..<3 {
                #expect(step.waitMilliseconds == 5000)
                step = try await server.next(step).step
            }
            #expect(try await server.next(step).message == "Login failure")
        }
    }

    @Test("Early polls of one wait do not count in the next wait")
    func newWaitResetsEarlyPolls() async throws {
        try await TestServer.run(.sample { $0.pollInterval = nil }) { server in
            let phone = try await server.registeredPhone()
            var (step, push) = try await server.waitingLogin(phone: phone)
            for _ in 0..<4 {
                for _ in 0..<3 { step = try await server.next(step).step }
                step = try await server.poll(step).step
            }
            #expect(try await phone.answer(push, at: server).status == 200)
            #expect(try await server.poll(step).json["tokenId"] != nil)
        }
    }
}
