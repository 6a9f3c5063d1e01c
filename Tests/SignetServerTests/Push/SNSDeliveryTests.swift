#if os(Linux)
import Foundation
import HTTPTypes
import SignetCore
import SignetTesting
import Testing
import TestSupport

@testable import SignetServer

/// Push delivery as devices and logins see it, with a stand-in SNS that fails on command.
@Suite("Push delivery through SNS")
struct SNSDeliveryTests {
    private func run(
        _ sns: StandInSNS, apple: String? = StandInSNS.apple, waitsForDelivery: Bool = true,
        _ body: @Sendable (TestServer) async throws -> Void
    ) async throws {
        try await TestServer.run(
            .sample {
                var configuration = sns.configuration
                configuration.appleEndpoint = apple
                configuration.waitsForDelivery = waitsForDelivery
                $0.sns = configuration
            }, body)
    }

    /// Answers of SNS that fail a delivery, with the reason that the server reports.
    static let failures: [(StandInSNS.Answer, String)] = [
        (.error("NotFound", "Endpoint does not exist", status: "404 No"), "NotFound: Endpoint does not exist"),
        (.error("InternalFailure", "oh", status: "503 Oh"), "InternalFailure: oh"), (.cut, ""), (.silence, "no answer in time"),
    ]

    @Test(
        "S11: A login whose message SNS does not accept fails with AM's 500, and its push message is reported",
        arguments: failures)
    func loginFailsWithSNS(fault: StandInSNS.Answer, words: String) async throws {
        let sns = try StandInSNS(timeout: fault.timeout) { request, _ in request.action == "Publish" ? fault : .good }
        try await run(sns) { server in
            _ = try await server.registeredPhone()
            let reply = try await server.logIn("PushLogin")
            #expect(reply.status == 500 && reply.json["authId"] == nil)
            #expect(
                reply.json
                    == .object([
                        "code": .integer(500), "reason": "Internal Server Error", "message": "Authentication Error!!",
                    ]))
            guard case .undeliverable(let reason) = try await server.devServer.pushes(to: "mira").last?.progress else {
                Issue.record("the message was delivered")
                return
            }
            #expect(words.isEmpty || reason.contains(words))
        }
    }

    @Test("S11: On a setting, a login whose message SNS does not accept goes on waiting", arguments: failures)
    func loginWaitsOnSetting(fault: StandInSNS.Answer, words: String) async throws {
        let sns = try StandInSNS(timeout: fault.timeout) { request, _ in request.action == "Publish" ? fault : .good }
        try await run(sns, waitsForDelivery: false) { server in
            let phone = try await server.registeredPhone()
            let (step, _) = try await server.waitingLogin(phone: phone)
            guard case .undeliverable(let reason) = try await server.finishedPush().progress else {
                Issue.record("the message was delivered")
                return
            }
            #expect(words.isEmpty || reason.contains(words))
            #expect(try await server.poll(step).step.waitMilliseconds != nil)
        }
    }

    @Test("S11: A login at the pages whose message SNS does not accept ends with an error page")
    func loginPageFailsWithSNS() async throws {
        let sns = try StandInSNS { request, _ in request.action == "Publish" ? Self.failures[0].0 : .good }
        try await run(sns) { server in
            _ = try await server.registeredPhone()
            let browser = PageBrowser(server)
            let start = try await browser.get("/am/XUI/?realm=/&authIndexType=service&authIndexValue=PushLogin")
            let page = try await browser.signIn(start)
            #expect(page.status == 500 && page.text.contains("could not be sent"))
        }
    }

    @Test("A phone registers with its token at the application of its platform and gets no push stream")
    func registersTokenAtApplication() async throws {
        let sns = try StandInSNS()
        try await run(sns) { server in
            let step = try await server.logIn("PushRegistration").step
            let phone = try Phone(uri: try step.registrationURI, uid: "phone-1")
            let reply = try await phone.register(at: server)
            #expect(reply.status == 200 && reply.header("Link") == nil)
            let request = try #require(sns.requests.first)
            #expect(sns.actions == ["CreatePlatformEndpoint"])
            #expect(request.fields["PlatformApplicationArn"] == StandInSNS.application && request.fields["Token"] == "token")
            #expect(request.attribute("Enabled") == "true" && request.attribute("Token") == "token")
            #expect(request.fields["Version"] == "2010-03-31")
            #expect(request.authorization?.contains("/eu-west-1/sns/aws4_request") == true)
        }
    }

    @Test("Requests to SNS are signed with the time of the machine, whatever a tester does to the server's clock")
    func movedClockLeavesSignatures() async throws {
        let sns = try StandInSNS()
        try await run(sns) { server in
            let day = server.clock.now
            server.devServer.moveClock(by: .seconds(3 * 86_400))
            let step = try await server.logIn("PushRegistration").step
            let phone = try Phone(uri: try step.registrationURI, uid: "phone-1")
            #expect(try await phone.register(at: server).status == 200)
            let request = try #require(sns.requests.first)
            let date = day.formatted(.iso8601.year().month().day().dateSeparator(.omitted))
            #expect(request.authorization?.contains("/\(date)/eu-west-1/sns/aws4_request") == true)
        }
    }

    @Test(
        "A device of type apns registers at Apple's application and any other at Google's, as in AM",
        arguments: ["apns", "gcm", "APNS", "other"])
    func selectsPlatformApplication(type: String) async throws {
        let sns = try StandInSNS()
        try await run(sns) { server in
            let step = try await server.logIn("PushRegistration").step
            let phone = try Phone(uri: try step.registrationURI, uid: "phone-1")
            let claims = phone.registration.merging(["communicationType": .string(type)]) { $1 }
            #expect(try await phone.register(at: server, claims: claims).status == 200)
            #expect(
                sns.requests[0].fields["PlatformApplicationArn"] == (type == "apns" ? StandInSNS.apple : StandInSNS.application))
        }
    }

    @Test("A device that prefers the push stream registers there instead of at SNS")
    func registersPreferredStream() async throws {
        let sns = try StandInSNS()
        try await run(sns) { server in
            let step = try await server.logIn("PushRegistration").step
            let phone = try Phone(uri: try step.registrationURI, uid: "phone-1")
            let body = PushRequestBody(
                messageId: phone.invitation.messageID,
                jwt: CompactJWS.sign(try JSON.encode(phone.registration), with: phone.secret))
            let reply = try await server.send(
                .post, phone.path(phone.invitation.registrationEndpoint),
                headers: ["Content-Type": "application/json", "Prefer": "respond-async, Signet-Push-Stream; x=1"],
                body: JSON.text(of: body))
            #expect(reply.status == 200 && reply.header("Link")?.contains("signet-push-stream") == true)
            _ = try await server.poll(step)
            _ = try await server.waitingLogin(phone: phone)
            #expect(try await server.finishedPush().progress == .onStream)
            #expect(sns.actions.isEmpty)
        }
    }

    @Test("A message has AM's envelope and the device can approve the login with it")
    func publishesEnvelopeOfAM() async throws {
        let sns = try StandInSNS()
        try await run(sns) { server in
            let phone = try await server.registeredPhone()
            let (step, push) = try await server.waitingLogin(phone: phone)
            #expect(try await server.finishedPush().progress == .sent(id: "sns-1"))
            let request = try #require(sns.requests.last)
            #expect(request.action == "Publish" && request.fields["TargetArn"] == StandInSNS.endpoint)
            #expect(request.fields["MessageStructure"] == "json")
            let text = "Login attempt from mira at Signet"
            #expect(request.fields["Subject"] == text)
            let envelope = try JSON.value(of: try #require(request.fields["Message"]).utf8)
            let members = envelope.object.map { Array($0.keys) } ?? []
            #expect(Set(members) == ["default", "GCM", "APNS", "APNS_SANDBOX"])
            #expect(envelope["default"] == .string(text))
            #expect(
                try JSON.value(of: try #require(envelope["GCM"]?.string).utf8)
                    == .object([
                        "PRIORITY": "high",
                        "data": .object(["message": .string(push.sealed), "messageId": .string(push.messageID)]),
                    ]))
            let apple: JSONValue = .object([
                "aps": .object([
                    "alert": .string(text), "sound": "default", "content-available": "1", "data": .string(push.sealed),
                    "messageId": .string(push.messageID),
                ])
            ])
            for platform in ["APNS", "APNS_SANDBOX"] {
                #expect(try JSON.value(of: try #require(envelope[platform]?.string).utf8) == apple)
            }
            #expect(try await phone.answer(push, at: server).status == 200)
            #expect(try await server.poll(step).json["tokenId"] != nil)
            #expect(try await server.devServer.pushes(to: "mira").last?.isAnswered == true)
        }
    }

    @Test("The request log records each request to SNS and the result of each message")
    func logsRequestsToSNS() async throws {
        let sns = try StandInSNS { request, before in
            request.action == "Publish" && before > 0 ? .error("InvalidParameter", "no", status: "400 Bad") : .good
        }
        try await run(sns, waitsForDelivery: false) { server in
            let requestLog = server.devServer.requestLog
            let phone = try await server.registeredPhone()
            let (_, push) = try await server.waitingLogin(phone: phone)
            let published = try await requestLog.waitForEntry(matching: RequestLogFilter { $0.step = .published })
            #expect(published.push?.messageID == push.messageID && published.push?.device == phone.uid)
            #expect(published.push?.reason == nil)
            let (_, next) = try await server.waitingLogin(phone: phone)
            let lost = try await requestLog.waitForEntry(matching: RequestLogFilter { $0.step = .undeliverable })
            #expect(lost.push?.messageID == next.messageID && lost.push?.reason?.contains("InvalidParameter") == true)
            #expect(lost.at == server.devServer.clock.now)

            #expect(requestLog.entries.compactMap(\.sns?.action) == sns.actions)
            let filters: [(RequestLogFilter, Int)] = [
                (RequestLogFilter { $0.kind = .sns }, 3), (RequestLogFilter { $0.action = "Publish" }, 2),
                (
                    RequestLogFilter {
                        $0.kind = .sns
                        $0.status = 400
                    }, 1
                ),
                (
                    RequestLogFilter {
                        $0.kind = .request
                        $0.action = "Publish"
                    }, 0
                ),
                (
                    RequestLogFilter {
                        $0.kind = .sns
                        $0.client = .device(phone.uid)
                    }, 0
                ),
            ]
            for (filter, count) in filters { #expect(requestLog.entries(matching: filter).count == count, "\(filter)") }
            let text = JSON.text(of: .array(requestLog.entries.map { AdminJSON.entry($0) })) + "\(requestLog.entries)"
            for secret in ["secret of a test", push.sealed, "AKIDEXAMPLE"] { #expect(!text.contains(secret), "\(secret)") }
        }
    }

    @Test("The request log records status 0 for a request that SNS does not answer")
    func logsUnansweredRequest() async throws {
        let sns = try StandInSNS { _, _ in .cut }
        try await run(sns) { server in
            let step = try await server.logIn("PushRegistration").step
            let phone = try Phone(uri: try step.registrationURI, uid: "phone-1")
            #expect(try await phone.register(at: server).status == 500)
            let ofSNS = RequestLogFilter { $0.kind = .sns }
            let entry = try #require(server.devServer.requestLog(matching: ofSNS).first)
            #expect(entry.sns?.action == "CreatePlatformEndpoint" && entry.sns?.status == 0)
            #expect(AdminJSON.entry(entry)["kind"] == "sns" && AdminJSON.entry(entry)["status"] == .integer(0))
        }
    }

    @Test(
        "A delivery that fails with a temporary error is retried until it succeeds",
        arguments: [
            StandInSNS.Answer.error("InternalFailure", "oh", status: "500 Oh"),
            .error("Throttled", "Rate exceeded", status: "429 Slow"), .error("Throttling", "Rate exceeded", status: "400 Slow"),
            .raw("503 Away", "<html>"), .cut,
        ])
    func retriesTemporaryErrors(fault: StandInSNS.Answer) async throws {
        let sns = try StandInSNS { request, before in request.action == "Publish" && before < 2 ? fault : .good }
        try await run(sns) { server in
            let phone = try await server.registeredPhone()
            _ = try await server.waitingLogin(phone: phone)
            #expect(try await server.finishedPush().progress == .sent(id: "sns-1"))
            let publishes = sns.actions.filter { $0 == "Publish" }
            #expect(publishes.count == 3)
        }
    }

    @Test("On a setting, a login does not wait for a silent SNS, and the failed delivery is reported")
    func loginDoesNotWaitForSilentSNS() async throws {
        let sns = try StandInSNS(timeout: StandInSNS.Answer.silence.timeout) { request, _ in
            request.action == "Publish" ? .silence : .good
        }
        try await run(sns, waitsForDelivery: false) { server in
            let phone = try await server.registeredPhone()
            let (step, push) = try await server.waitingLogin(phone: phone)
            // The login was answered before SNS, and it remains pending.
            #expect(try await server.devServer.pushes(to: "mira").last?.progress == .queued)
            #expect(try await server.poll(step).step.waitMilliseconds != nil)
            guard case .undeliverable(let reason) = try await server.finishedPush().progress else {
                Issue.record("the message was delivered")
                return
            }
            #expect(reason.contains("no answer in time"))
            let reports = try await server.devServer.pushes(to: "mira")
            let report = reports.first { $0.messageID == push.messageID }
            #expect(report?.progress == .undeliverable(reason: reason))
            let own = server.devServer.requestLog.entries.compactMap(\.sns)
            let hasFailedPublish = own.contains { $0.action == "Publish" && $0.status == 0 }
            #expect(hasFailedPublish)
            let hasMadeEndpoint = own.contains { $0.action == "CreatePlatformEndpoint" && $0.status == 200 }
            #expect(hasMadeEndpoint)
        }
    }

    @Test(
        "A delivery that fails with a permanent error is not retried",
        arguments: [
            (
                StandInSNS.Answer.error("NotFound", "Endpoint does not exist", status: "404 No"),
                "NotFound: Endpoint does not exist"
            ),
            (.error("SignatureDoesNotMatch", "no &lt;good&gt;", status: "403 No"), "SignatureDoesNotMatch: no <good>"),
            (.raw("200 OK", "hello"), "status 200"), (.raw("302 Found", ""), "status 302"),
        ])
    func doesNotRetryPermanentErrors(fault: StandInSNS.Answer, words: String) async throws {
        let sns = try StandInSNS { request, _ in request.action == "Publish" ? fault : .good }
        let log = RecordingLog()
        try await TestServer.run(.sample { $0.sns = sns.configuration }, logger: log.logger) { server in
            let phone = try await server.registeredPhone()
            #expect(try await server.logIn("PushLogin").status == 500)
            let push = try #require(try await server.inbox(phone.uid).last)
            guard case .undeliverable(let reason) = try await server.finishedPush().progress else {
                Issue.record("the message was delivered")
                return
            }
            #expect(reason.contains(words))
            let publishes = sns.actions.filter { $0 == "Publish" }
            #expect(publishes.count == 1)
            let isLogged = try await eventually { log.lines.contains("could not be delivered") && log.lines.contains(words) }
            #expect(isLogged)
            #expect(!log.lines.contains("secret of a test") && !log.lines.contains(push.sealed))
        }
    }

    @Test("A delivery enables a disabled endpoint once")
    func enablesDisabledEndpointOnce() async throws {
        let gone = StandInSNS.Answer.error("EndpointDisabled", "Endpoint is disabled", status: "400 No")
        let sns = try StandInSNS { request, before in request.action == "Publish" && before == 0 ? gone : .good }
        try await run(sns) { server in
            let phone = try await server.registeredPhone()
            _ = try await server.waitingLogin(phone: phone)
            #expect(try await server.finishedPush().progress == .sent(id: "sns-1"))
            #expect(sns.actions == ["CreatePlatformEndpoint", "Publish", "SetEndpointAttributes", "Publish"])
            #expect(sns.requests[2].attribute("Enabled") == "true" && sns.requests[2].attribute("Token") == "token")
        }
        let still = try StandInSNS { request, _ in request.action == "Publish" ? gone : .good }
        try await run(still) { server in
            _ = try await server.registeredPhone()
            #expect(try await server.logIn("PushLogin").status == 500)
            #expect(try await server.finishedPush().progress == .undeliverable(reason: "EndpointDisabled: Endpoint is disabled"))
            let publishes = still.actions.filter { $0 == "Publish" }
            #expect(publishes.count == 2)
        }
    }

    @Test("A registration enables an existing endpoint whose attributes differ, as OpenAM does")
    func enablesConflictingEndpoint() async throws {
        let exists = StandInSNS.Answer.error(
            "InvalidParameter",
            "Invalid parameter: Token Reason: Endpoint \(StandInSNS.endpoint) already exists with the same Token, but different attributes.",
            status: "400 No")
        let sns = try StandInSNS { request, _ in
            request.action == "CreatePlatformEndpoint" && request.attribute("Enabled") == "true" ? exists : .good
        }
        try await run(sns) { server in
            _ = try await server.registeredPhone()
            #expect(sns.actions == ["CreatePlatformEndpoint", "CreatePlatformEndpoint", "SetEndpointAttributes"])
            #expect(sns.requests[2].fields["EndpointArn"] == StandInSNS.endpoint)
        }
        // With custom user data neither request matches; the error message names the endpoint.
        let foreign = try StandInSNS { request, _ in request.action == "CreatePlatformEndpoint" ? exists : .good }
        try await run(foreign) { server in
            _ = try await server.registeredPhone()
            #expect(foreign.requests.last?.action == "SetEndpointAttributes")
            #expect(foreign.requests.last?.fields["EndpointArn"] == StandInSNS.endpoint)
        }
    }

    @Test(
        "S11: A device whose token SNS refuses, or that SNS does not answer for, gets AM's empty 500, or 400 and 503 on a setting",
        arguments: [
            (StandInSNS.Answer.error("InvalidParameter", "Invalid parameter: Token", status: "400 No"), 400),
            (.error("AuthorizationError", "no", status: "403 No"), 503), (.raw("500 Oh", ""), 503), (.cut, 503), (.silence, 503),
        ])
    func refusesUnregisteredToken(fault: StandInSNS.Answer, status: Int) async throws {
        for waitsForDelivery in [true, false] {
            let sns = try StandInSNS(timeout: fault.timeout) { _, before in before < 2 ? fault : .good }
            try await run(sns, waitsForDelivery: waitsForDelivery) { server in
                let step = try await server.logIn("PushRegistration").step
                let phone = try Phone(uri: try step.registrationURI, uid: "phone-1")
                let refused = try await phone.register(at: server)
                #expect(refused.status == (waitsForDelivery ? 500 : status))
                #expect(refused.text.isEmpty == waitsForDelivery)
                let device = try await server.devServer.context.store.read { tx in
                    try tx.devices.pushDevice(mechanismUID: "phone-1")
                }
                #expect(device == nil)
                // The invitation stays valid, so the device can try again. On a busy machine SNS may answer too late once more.
                var statuses: [Int] = []
                while statuses.last != 200, statuses.count < 20 { statuses.append(try await phone.register(at: server).status) }
                #expect(statuses.last == 200)
            }
        }
    }

    @Test("A registration without a platform application or with a wrong response does not reach SNS")
    func refusedRegistrationDoesNotReachSNS() async throws {
        let sns = try StandInSNS()
        try await run(sns, apple: nil) { server in
            let step = try await server.logIn("PushRegistration").step
            let phone = try Phone(uri: try step.registrationURI, uid: "phone-1")
            let apple = phone.registration.merging(["communicationType": "apns"]) { $1 }
            #expect(try await phone.register(at: server, claims: apple).status == 400)
            let wrong = phone.registration.merging(["response": "AAAA"]) { $1 }
            #expect(try await phone.register(at: server, claims: wrong).status == 400)
            #expect(sns.actions.isEmpty)
            #expect(try await phone.register(at: server).status == 200)
            // A repeated registration does not reach SNS either.
            #expect(try await phone.register(at: server).status == 200)
            #expect(sns.actions == ["CreatePlatformEndpoint"])
        }
    }

    @Test("Exactly one of several simultaneous registrations with one invitation is stored")
    func storesOneOfConcurrentDevices() async throws {
        let sns = try StandInSNS()
        try await run(sns) { server in
            let step = try await server.logIn("PushRegistration").step
            let phone = try Phone(uri: try step.registrationURI, uid: "phone-1")
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for index in 0..<8 {
                    let claims = phone.registration.merging(["mechanismUid": .string("phone-\(index)")]) { $1 }
                    group.addTask { try await phone.register(at: server, claims: claims).status }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses.sorted() == [200] + Array(repeating: 400, count: 7))
            let stored = try await server.devServer.context.store.read { tx in
                try (0..<8).filter { try tx.devices.pushDevice(mechanismUID: "phone-\($0)") != nil }
            }
            #expect(stored.count == 1)
        }
    }
}
#endif
