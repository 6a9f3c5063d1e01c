import Crypto
import Foundation
import HTTPTypes
import SignetCore
import TestSupport
import Testing

@testable import SignetServer

@Suite("Requests of each SDK, as listed in protocol/journey.md")
struct RequestShapeTests {
    /// Returns the values of the placeholders `{name}`, made for this shape only, so that each value is unused.
    private func values(_ server: TestServer, for shape: RequestShape) async throws -> [String: String] {
        let text = shape.path + (shape.body ?? "") + shape.headers.values.joined()
        var values = ["challenge": ProofKey.challenge(for: TestServer.verifier), "verifier": TestServer.verifier]
        if text.contains("{session}") { values["session"] = try await server.session() }
        if text.contains("{authId}") { values["authId"] = try await server.start("Login").step.authId }
        if text.contains("{code}") { values["code"] = try await server.code(try await server.session()) }
        if text.contains("{access}") || text.contains("{refresh}") || text.contains("{id}") {
            let tokens = try await server.tokens()
            values["access"] = tokens.access
            values["refresh"] = tokens.refresh
            values["id"] = tokens.id
        }
        if text.contains("{suspendedId}") {
            var step = try await server.start("EmailLogin").step
            step.fill("NameCallback", "mira")
            _ = try await server.next(step)
            let emails = try await server.devServer.emailLinks(to: "mira")
            values["suspendedId"] = FormCoding.query(of: try #require(emails.last))["suspendedId"]
        }
        if text.contains("{device}") {
            _ = try await server.registeredPhone()
            let devices = try await server.send(
                .get, "/am/json/users/mira/devices/2fa/push?_queryFilter=true",
                headers: ["iPlanetDirectoryPro": try await server.session()])
            values["device"] = devices.json["result"]?.array?.first?["_id"]?.string
        }
        return values
    }

    @Test("The server answers each request of an SDK with the members that the SDK reads", arguments: RequestShape.all)
    func answersRequestOfSDK(shape: RequestShape) async throws {
        try await TestServer.run { server in
            let values = try await values(server, for: shape)
            func filled(_ text: String) -> String {
                values.reduce(text) { $0.replacingOccurrences(of: "{\($1.key)}", with: $1.value) }
            }
            let reply = try await server.send(
                shape.method, filled(shape.path), headers: shape.headers.mapValues(filled), body: shape.body.map(filled))
            #expect(reply.status == shape.status, "\(reply.text)")
            let members = reply.status == 302 ? try reply.location.mapValues { JSONValue.string($0) } : reply.json.object ?? [:]
            for expected in shape.answer.map(filled) {
                let parts = expected.split(separator: "=", maxSplits: 1).map(String.init)
                if expected.hasPrefix("!") {
                    #expect(members[String(expected.dropFirst())] == nil)
                } else if parts.count == 1 {
                    #expect(members[expected] != nil, "\(expected) in \(reply.text)")
                } else {
                    let actual = members[parts[0]]
                    #expect(actual?.string ?? actual?.lenientInteger.map(String.init) == parts[1], "\(expected) in \(reply.text)")
                }
            }
            // The ForgeRock SDK for iOS refuses a response that is neither empty nor a JSON object.
            if reply.status == 302 { #expect(reply.text == "") }
        }
    }

    /// A realm as an app writes it, the SDK's path for it, and the realm of that path; nil if there is none.
    static let realms: [(SDK, String, String, String?)] = [
        (.forgeRockIOS, "root", "/json/realms/root/authenticate", "/"),
        (.forgeRockIOS, "alpha", "/json/realms/alpha/authenticate", "/alpha"),
        (.forgeRockIOS, "root/realms/alpha", "/json/realms/root/realms/alpha/authenticate", "/alpha"),
        (.forgeRockIOS, "", "/json/realms//authenticate", nil),
        (.ping, "root", "/json/realms/root/authenticate", "/"),
        (.ping, "alpha", "/json/realms/alpha/authenticate", "/alpha"),
        (.ping, "root/realms/alpha", "/json/realms/root/realms/alpha/authenticate", "/alpha"),
        (.forgeRockAndroid, "root", "/json/realms/root/authenticate", "/"),
        (.forgeRockAndroid, "alpha", "/json/realms/alpha/authenticate", "/alpha"),
        (.forgeRockAndroid, "root/realms/alpha", "/json/realms/root%2Frealms%2Falpha/authenticate", nil),
        (.forgeRockJS, "", "/json/realms/root/authenticate", "/"),
        (.forgeRockJS, "root/alpha", "/json/realms/root/realms/alpha/authenticate", "/alpha"),
        (.forgeRockJS, "foo/bar", "/json/realms/root/realms/foo/realms/bar/authenticate", nil),
        (.forgeRockJS, "an override's", "/json/alpha/authenticate", "/alpha"),
        (.forgeRockJS, "a parameter's", "/json/authenticate?realm=/alpha", "/alpha"),
    ]

    @Test("Each SDK's path for a realm selects that realm (section 1.2)", arguments: realms)
    func selectsRealmOfSDKPath(sdk: SDK, written: String, path: String, meant: String?) async throws {
        try await TestServer.run { server in
            let start = try await server.send(.post, "/am\(path)", headers: sdk.headers(.authenticate), body: "{}")
            guard let meant else {
                #expect(start.status == 404)
                return
            }
            var step = try start.step
            step.fill("NameCallback", "mira")
            step.fill("PasswordCallback", .string(meant == "/" ? TestServer.password : "other"))
            #expect(try await server.next(step, at: "/am\(path)").json["realm"] == .string(meant))
        }
    }

    /// Journeys whose steps AM's clients recognize by layout: the callbacks with their kind of text, and the names of
    /// their inputs (2.6, 2.8).
    static let layouts: [(journey: String, callbacks: [String], inputs: [String])] = [
        (
            "OATHRegistration",
            [
                "TextOutputCallback 0", "TextOutputCallback 4", "HiddenValueCallback mfaDeviceRegistration",
                "ConfirmationCallback 0",
            ],
            ["IDToken3", "IDToken4"]
        ),
        (
            "PushRegistration",
            ["TextOutputCallback 0", "TextOutputCallback 4", "HiddenValueCallback mfaDeviceRegistration", "PollingWaitCallback"],
            ["IDToken3"]
        ),
        (
            "CombinedRegistration",
            ["TextOutputCallback 0", "TextOutputCallback 4", "HiddenValueCallback mfaDeviceRegistration", "PollingWaitCallback"],
            ["IDToken3"]
        ), ("Push", ["PollingWaitCallback", "ConfirmationCallback 0"], ["IDToken2"]),
        (
            "Number", ["PollingWaitCallback", "HiddenValueCallback pushChallengeNumber", "ConfirmationCallback 0"],
            ["IDToken2", "IDToken3"]
        ),
    ]

    /// Adds to the starter file journeys whose wait has an exit that leads to success.
    private static func withExits() throws -> ServerConfiguration {
        let waits = [("Push", "DEFAULT"), ("Number", "CHALLENGE")].map { name, type in
            """
              \(name):
                nodes:
                  login: {type: InnerTreeEvaluatorNode, tree: Login, outcomes: {true: send, false: failure}}
                  send: {type: PushAuthenticationSenderNode, pushType: \(type), outcomes: {SENT: wait, default: failure}}
                  wait: {type: PushWaitNode, exitMessage: Another way, outcomes: {DONE: failure, EXITED: success}}

            """
        }
        let file = try ServerConfiguration(yaml: ServerConfiguration.starterText + waits.joined())
        return .sample { $0.journeys = file.journeys }
    }

    @Test("The callbacks of a step have AM's order and input names (sections 2.6 and 2.8)", arguments: layouts)
    func stepsHaveLayoutOfAM(journey: String, callbacks: [String], inputs: [String]) async throws {
        try await TestServer.run(try Self.withExits()) { server in
            _ = try await server.registeredPhone()
            let step = try await server.logIn(journey).step
            let actual = step.callbacks.map { callback in
                let kind = callback.output("id") ?? callback.output("messageType")
                return ([callback.type] + [kind?.string ?? kind?.lenientInteger.map(String.init)].compactMap { $0 }).joined(
                    separator: " ")
            }
            #expect(actual == callbacks)
            let inputNames = step.callbacks.flatMap { $0.input ?? [] }.map(\.name)
            #expect(inputNames == inputs)
            guard let uri = step.hiddenValue("mfaDeviceRegistration") else { return }
            #expect(step.callbacks[1].output("message")?.string?.contains(uri.scriptText) == true)
        }
    }

    @Test(
        "The exit button of a wait has AM's input name (section 2.8)",
        arguments: [("Push", "IDToken2"), ("Number", "IDToken3")])
    func exitButtonHasInputOfAM(journey: String, input: String) async throws {
        try await TestServer.run(try Self.withExits()) { server in
            _ = try await server.registeredPhone()
            let step = try await server.logIn(journey).step
            let pressed: JSONValue = .object(["name": .string(input), "value": .integer(0)])
            let button: JSONValue = .object(["type": "ConfirmationCallback", "input": .array([pressed])])
            let body: JSONValue = .object(["authId": .string(step.authId), "callbacks": .array([button])])
            let reply = try await server.send(
                .post, TestServer.authenticate, headers: SDK.forgeRockJS.headers(.authenticate), body: JSON.text(of: body))
            #expect(reply.isLoggedIn, "\(reply.text)")
        }
    }

    @Test("The login page with a QR code neither shows nor runs AM's script for it")
    func pageOmitsScriptOfQRCode() async throws {
        try await TestServer.run { server in
            let browser = PageBrowser(server)
            let page = try await browser.signIn(try await browser.get("/am/XUI/?authIndexValue=PushRegistration"))
            #expect(
                page.heading == "Add your device" && !page.text.contains("createCode")
                    && !page.text.contains("script for browsers"))
        }
    }

    @Test("A browser that returns from a redirect can send its last step again with the redirect's parameters (section 2.9)")
    func acceptsStepAfterRedirect() async throws {
        try await TestServer.run { server in
            var step = try await server.start("Login").step
            step.fill("NameCallback", "mira")
            step.fill("PasswordCallback", .string(TestServer.password))
            let query =
                "authIndexType=service&authIndexValue=Login&code=c&state=s&nonce=n&scope=openid&RelayState=r&responsekey=k"
            let reply = try await server.send(
                .post, "\(TestServer.authenticate)?\(query)", headers: SDK.forgeRockJS.headers(.authenticate),
                body: String(decoding: try JSON.encode(step), as: UTF8.self))
            #expect(reply.isLoggedIn)
        }
    }
}

/// An authenticator's request to the push endpoints, as sections 3.2 and 4.4 of protocol/authenticator.md define it.
struct PushShape: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let headers: [String: String]
    let deviceType: String
    let communicationType: String
    /// Members of the body besides `messageId` and `jwt`.
    var extra: [String: JSONValue] = [:]
    /// Additional claims in the denial of a number message.
    var denial: [String: JSONValue] = [:]
    var header = #"{"typ":"JWT","alg":"HS256"}"#
    var escapesSlashes = false

    static let all = [
        PushShape(
            testDescription: "ForgeRock iOS",
            headers: [
                "accept-api-version": "resource=1.0, protocol=1.0", "Set-Cookie": "amlbcookie=01",
                "Content-Type": "application/json",
                "Accept": "application/json", "x-requested-with": "forgerock-sdk", "x-requested-platform": "ios",
            ], deviceType: "ios", communicationType: "apns", denial: ["challengeResponse": .null],
            header: #"{"alg":"HS256","typ":"JWT"}"#, escapesSlashes: true),
        PushShape(
            testDescription: "ForgeRock Android",
            headers: [
                "Accept-API-Version": "resource=1.0, protocol=1.0", "Cookie": "amlbcookie=01",
                "Content-Type": "application/json; charset=utf-8",
            ], deviceType: "android", communicationType: "gcm"),
        PushShape(
            testDescription: "Ping iOS",
            headers: [
                "Accept-API-Version": "resource=1.0, protocol=1.0", "Cookie": "amlbcookie=01", "Content-Type": "application/json",
            ], deviceType: "ios", communicationType: "apns", extra: ["userId": "mira"], escapesSlashes: true),
    ]

    /// Returns a JWT with the SDK's own header and JSON escaping.
    func jwt(_ claims: [String: JSONValue], _ secret: Secret) throws -> String {
        var text = JSON.text(of: .object(claims))
        if escapesSlashes { text = text.replacingOccurrences(of: "/", with: "\\/") }
        let signed = [header, text].map { Base64.encode(Array($0.utf8), as: .url) }.joined(separator: ".")
        let code = HMAC<SHA256>.authenticationCode(for: Array(signed.utf8), using: SymmetricKey(data: secret.bytes))
        return "\(signed).\(Base64.encode(Array(code), as: .url))"
    }

    func send(_ messageID: String, _ jwt: String, to address: String, at server: TestServer) async throws -> Reply {
        let members = extra.merging(["messageId": .string(messageID), "jwt": .string(jwt)]) { $1 }
        return try await server.send(.post, address, headers: headers, body: JSON.text(of: .object(members)))
    }
}

@Suite("Push requests of each authenticator, as listed in protocol/authenticator.md")
struct PushShapeTests {
    /// Registers a phone with the requests of an SDK.
    private func phone(_ shape: PushShape, _ server: TestServer) async throws -> Phone {
        let step = try await server.logIn("PushRegistration").step
        let phone = try Phone(uri: try step.registrationURI, uid: "6D0E0C1B-52A4-4E3C-9C1B-6B6F1E9F7A10")
        var claims = phone.registration
        claims["deviceName"] = "Mira's phone / tablet"
        claims["deviceType"] = .string(shape.deviceType)
        claims["communicationType"] = .string(shape.communicationType)
        let reply = try await shape.send(
            phone.invitation.messageID, try shape.jwt(claims, phone.secret),
            to: phone.path(phone.invitation.registrationEndpoint),
            at: server)
        #expect(reply.status == 200 && reply.json == .object([:]), "\(reply.text)")
        #expect(try await server.poll(step).json["tokenId"] != nil)
        return phone
    }

    @Test(
        "Each authenticator's registration, approvals and denials are accepted (sections 3.2, 3.3 and 4.4)",
        arguments: PushShape.all,
        ["PushLogin", "PushNumberLogin", "PushBiometricLogin"])
    func acceptsRegistrationApprovalAndDenial(shape: PushShape, journey: String) async throws {
        try await TestServer.run { server in
            let phone = try await phone(shape, server)
            let address = phone.path(phone.invitation.authenticationEndpoint)
            for denies in [false, true] {
                let (step, push) = try await server.waitingLogin(journey, phone: phone)
                var claims: [String: JSONValue] = ["response": try phone.response(to: push)]
                if denies {
                    claims["deny"] = .bool(true)
                    if push.number != nil { claims.merge(shape.denial) { $1 } }
                } else if let number = push.number {
                    claims["challengeResponse"] = .string(String(number))
                }
                let reply = try await shape.send(push.messageID, try shape.jwt(claims, phone.secret), to: address, at: server)
                #expect(reply.status == 200 && reply.json == .object([:]), "\(reply.text)")
                #expect(try await server.poll(step).isLoggedIn == !denies)
            }
        }
    }

    @Test("A new device token is refused with 501, as in AM before version 8 (section 5)", arguments: PushShape.all)
    func refusesNewDeviceToken(shape: PushShape) async throws {
        try await TestServer.run { server in
            let phone = try await phone(shape, server)
            let address = phone.path(phone.invitation.registrationEndpoint).replacingOccurrences(of: "register", with: "refresh")
            let body = JSON.text(
                of: .object(["mechanismUid": .string(phone.uid), "jwt": .string(try shape.jwt(["deviceId": "t"], phone.secret))]))
            let reply = try await server.send(.post, address, headers: shape.headers, body: body)
            #expect(reply.status == 501)
        }
    }
}
