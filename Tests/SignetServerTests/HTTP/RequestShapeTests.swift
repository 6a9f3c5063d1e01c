import Crypto
import Foundation
import HTTPTypes
import SignetCore
import Testing

@testable import SignetServer

@Suite("Each SDK's requests, as the protocol's tables have them, are answered as AM answers them")
struct RequestShapeTests {
    /// What stands for `{name}`: made when a shape needs it, so that each has what is still good.
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

    @Test("Each request has the answer that its SDK looks for", arguments: RequestShape.all)
    func answers(shape: RequestShape) async throws {
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
                    let told = members[parts[0]]
                    #expect(told?.string ?? told?.wholeNumber.map(String.init) == parts[1], "\(expected) in \(reply.text)")
                }
            }
            // One SDK takes every answer for broken that is neither empty nor an object of JSON.
            if reply.status == 302 { #expect(reply.text == "") }
        }
    }

    /// A realm as an app writes it, the path that the SDK makes of it, and the realm that it means; nil when there is none.
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

    @Test("A realm is the one that the SDK's way to write it means (1.2)", arguments: realms)
    func realm(sdk: SDK, written: String, path: String, meant: String?) async throws {
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

    /// Journeys whose steps AM's clients know by their layout: the callbacks with their kind of text, and the names of their inputs
    /// (2.6, 2.8).
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

    /// Journeys with an exit from the wait, which is a success here, beside those of the starter file.
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

    @Test("Steps are laid out as AM's are (2.6, 2.8)", arguments: layouts)
    func layout(journey: String, callbacks: [String], inputs: [String]) async throws {
        try await TestServer.run(try Self.withExits()) { server in
            _ = try await server.registeredPhone()
            let step = try await server.logIn(journey).step
            let told = step.callbacks.map { callback in
                let kind = callback.output("id") ?? callback.output("messageType")
                return ([callback.type] + [kind?.string ?? kind?.wholeNumber.map(String.init)].compactMap { $0 }).joined(
                    separator: " ")
            }
            #expect(told == callbacks)
            let inputNames = step.callbacks.flatMap { $0.input ?? [] }.map(\.name)
            #expect(inputNames == inputs)
            guard let uri = step.hiddenValue("mfaDeviceRegistration") else { return }
            #expect(step.callbacks[1].output("message")?.string?.contains(uri.scriptText) == true)
        }
    }

    @Test("A wait is left by the button where AM has it (2.8)", arguments: [("Push", "IDToken2"), ("Number", "IDToken3")])
    func exit(journey: String, input: String) async throws {
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

    @Test("The page of a QR code neither shows nor runs AM's script for it")
    func script() async throws {
        try await TestServer.run { server in
            let browser = PageBrowser(server)
            let page = try await browser.signIn(try await browser.get("/am/XUI/?authIndexValue=PushRegistration"))
            #expect(
                page.heading == "Add your device" && !page.text.contains("createCode")
                    && !page.text.contains("script for browsers"))
        }
    }

    @Test("A browser that comes back from elsewhere sends its last step again, with what it was given (2.9)")
    func redirectResume() async throws {
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

/// An authenticator's request to the push endpoints, as protocol/authenticator.md sections 3.2 and 4.4 have it.
struct PushShape: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let headers: [String: String]
    let deviceType: String
    let communicationType: String
    /// Members of the body besides `messageId` and `jwt`.
    var extra: [String: JSONValue] = [:]
    /// What a denial of a number message claims besides.
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

    /// A JWT with the SDK's own header and spelling.
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

@Suite("Each authenticator's push requests, as the protocol's tables have them, are accepted")
struct PushShapeTests {
    /// Registers a phone in an SDK's own words.
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
        "Registration, approval of each kind, and denial (3.2, 3.3, 4.4)", arguments: PushShape.all,
        ["PushLogin", "PushNumberLogin", "PushBiometricLogin"])
    func answers(shape: PushShape, journey: String) async throws {
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

    @Test("A new device token is not taken, as by AM before 8 (5)", arguments: PushShape.all)
    func refresh(shape: PushShape) async throws {
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
