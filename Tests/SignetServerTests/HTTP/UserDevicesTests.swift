import HTTPTypes
import SignetCore
import TestSupport
import Testing

@testable import SignetServer

@Suite("Users' management of their own devices")
struct UserDevicesTests {
    private static let users = "/am/json/realms/root/users"

    private func list(_ server: TestServer, _ session: String, _ kind: String, user: String = "mira") async throws -> Reply {
        try await server.send(
            .get, "\(Self.users)/\(user)/devices/\(kind)?_queryFilter=true",
            headers: ["iPlanetDirectoryPro": session, "Accept-API-Version": "resource=1.0"])
    }

    @Test("A user's devices of every kind are listed without secrets")
    func listsDevicesWithoutSecrets() async throws {
        try await TestServer.run { server in
            let session = try await server.session()
            for kind in ["2fa/oath", "2fa/push", "2fa/binding", "2fa/webauthn", "profile"] {
                #expect(try await list(server, session, kind).json["result"] == .array([]))
            }
            let phone = try await server.registeredPhone("CombinedRegistration")
            let push = try #require(try await list(server, session, "2fa/push").json["result"]?.array?.first)
            #expect(push["deviceName"] == "Test phone")
            let createdDate = try #require(push["createdDate"]?.lenientInteger)
            #expect(createdDate >= 1_735_689_600_000)
            #expect(push["_id"] == push["uuid"])
            let oath = try await list(server, session, "2fa/oath")
            #expect(oath.json["resultCount"] == .integer(1))
            #expect(!oath.text.contains(Base32.encode(phone.enrollment.oath?.secret.bytes ?? [])))
        }
    }

    @Test("A removed push device receives no more push messages")
    func removesPushDevice() async throws {
        try await TestServer.run { server in
            let session = try await server.session()
            let phone = try await server.registeredPhone()
            _ = try await server.waitingLogin(phone: phone)
            let id = try #require(try await list(server, session, "2fa/push").json["result"]?.array?.first?["_id"]?.string)
            let path = "\(Self.users)/mira/devices/2fa/push/\(id)"
            let header = ["iPlanetDirectoryPro": session]
            #expect(try await server.send(.delete, path, headers: header).json["_id"] == .string(id))
            #expect(try await server.inbox(phone.uid).isEmpty)
            #expect(try await server.send(.delete, path, headers: header).status == 404)
            #expect(try await server.logIn("PushLogin").message == "Login failure")
        }
    }

    @Test(
        "F9: A user renames a device for codes and a push device, and the device works on",
        arguments: [("oath", "OATH Device"), ("push", "Test phone")])
    func renamesSecondFactor(kind: String, name: String) async throws {
        try await TestServer.run { server in
            let phone = try await server.registeredPhone("CombinedRegistration")
            let session = try await server.session()
            let header = [
                "iPlanetDirectoryPro": session, "Accept-API-Version": "resource=1.0", "Content-Type": "application/json",
                "If-Match": "*",
            ]
            var device = try #require(try await list(server, session, "2fa/\(kind)").json["result"]?.array?.first?.object)
            #expect(device["deviceName"] == .string(name))
            let path = "\(Self.users)/mira/devices/2fa/\(kind)/\(try #require(device["_id"]?.string))"
            device["deviceName"] = "Work phone"
            let renamed = try await server.send(.put, path, headers: header, body: JSON.text(of: .object(device)))
            #expect(renamed.status == 200 && renamed.json == .object(device))
            #expect(try await list(server, session, "2fa/\(kind)").json["result"] == .array([.object(device)]))
            #expect(try await server.send(.put, path, headers: header, body: "{}").status == 400)
            let long = String(repeating: "n", count: 4097)
            #expect(try await server.send(.put, path, headers: header, body: #"{"deviceName":"\#(long)"}"#).status == 400)
            let unknown = "\(Self.users)/mira/devices/2fa/\(kind)/none"
            #expect(try await server.send(.put, unknown, headers: header, body: #"{"deviceName":"x"}"#).status == 404)
            #expect(try await list(server, session, "2fa/\(kind)").json["result"] == .array([.object(device)]))
            _ = try await server.waitingLogin(phone: phone)
        }
    }

    @Test("S15: Push devices are listed and removed at both addresses, and one is not read at devices/push")
    func servesPushDevicesAtBothAddresses() async throws {
        try await TestServer.run { server in
            let session = try await server.session()
            let header = ["iPlanetDirectoryPro": session, "Accept-API-Version": "resource=1.0"]
            let phone = try await server.registeredPhone()
            let devices = try await list(server, session, "push")
            #expect(devices.status == 200 && devices.json["resultCount"] == .integer(1))
            #expect(devices.json == (try await list(server, session, "2fa/push").json))
            let id = try #require(devices.json["result"]?.array?.first?["uuid"]?.string)
            let path = "\(Self.users)/mira/devices/push/\(id)"
            let one = try await server.send(.get, path, headers: header)
            #expect(one.status == 501 && one.message == "Operation is not supported.")
            #expect(try await server.send(.delete, "\(Self.users)/mira/devices/push/none", headers: header).status == 404)
            #expect(try await server.send(.delete, path, headers: header).json["uuid"] == .string(id))
            #expect(try await list(server, session, "push").json["result"] == .array([]))
            #expect(try await list(server, session, "2fa/push").json["result"] == .array([]))
            #expect(try await server.inbox(phone.uid).isEmpty)

            // A device's id may be the last segment of another route.
            #expect(try await server.send(.delete, "\(Self.users)/mira/devices/push/stream", headers: header).status == 404)
            #expect(server.devServer.requestLog.entries.last?.request?.resource == "pushDevice")
            #expect(try await list(server, session, "push", user: "noa").status == 403)
            #expect(try await list(server, "", "push").status == 401)
        }
    }

    @Test("S15: The action check says that a second factor is not skipped, reset removes its devices, and skip is refused")
    func answersActionsOfSecondFactors() async throws {
        try await TestServer.run { server in
            _ = try await server.registeredPhone("CombinedRegistration")
            let session = try await server.session()
            let header = [
                "iPlanetDirectoryPro": session, "Accept-API-Version": "resource=1.0", "Content-Type": "application/json",
            ]
            func act(_ query: String, _ headers: [String: String], kind: String = "oath") async throws -> Reply {
                try await server.send(.post, "\(Self.users)/mira/devices/2fa/\(kind)\(query)", headers: headers, body: "{}")
            }
            #expect(try await act("?_action=check", header).json == .object(["result": .bool(false)]))
            #expect(try await act("?_action=skip", header).status == 501)
            #expect(try await act("?_action=check", header).json == .object(["result": .bool(false)]))
            #expect(try await act("?_action=check", header, kind: "webauthn").status == 501)
            #expect(try await act("?_action=remove", header).status == 501)
            #expect(try await act("", header).status == 400)
            #expect(try await act("?_action=reset", ["Content-Type": "application/json"]).status == 401)
            #expect(try await list(server, session, "2fa/oath").json["resultCount"] == .integer(1))
            #expect(try await act("?_action=reset", header).json == .object(["result": .bool(true)]))
            #expect(try await list(server, session, "2fa/oath").json["resultCount"] == .integer(0))
            #expect(try await list(server, session, "2fa/push").json["resultCount"] == .integer(1))
            #expect(try await act("?_action=reset", header, kind: "push").json == .object(["result": .bool(true)]))
            #expect(try await list(server, session, "push").json["resultCount"] == .integer(0))
        }
    }

    @Test("A user finds a passkey by its credential id, renames it and removes it")
    func managesPasskey() async throws {
        try await TestServer.run { server in
            let authenticator = TestAuthenticator()
            var step = try await server.logIn("WebAuthnRegistration").step
            let challenge = try #require(step.callbacks[0].output("data")?["challenge"]?.string)
            step.fill("HiddenValueCallback", .string(try authenticator.registration(challenge: challenge, name: "Key")))
            let session = try #require(try await server.next(step).json["tokenId"]?.string)
            let header = ["Cookie": "iPlanetDirectoryPro=\(session)", "Content-Type": "application/json"]
            let credential = Base64.encode(authenticator.credentialID, as: .url)
            let found = try await server.send(.get, "\(Self.users)/mira/devices/2fa/webauthn/\(credential)", headers: header)
            #expect(found.json["deviceName"] == "Key")
            #expect(found.json["credentialId"] == .string(credential))
            let path = "\(Self.users)/mira/devices/2fa/webauthn/\(try #require(found.json["uuid"]?.string))"
            let renamed = try await server.send(.put, path, headers: header, body: "{\"deviceName\":\"Blue key\",\"uuid\":\"x\"}")
            #expect(renamed.json["deviceName"] == "Blue key")
            #expect(renamed.json["uuid"] == found.json["uuid"])
            #expect(try await server.send(.put, path, headers: header, body: "{}").status == 400)
            #expect(try await server.send(.delete, path, headers: header).status == 200)
            #expect(try await list(server, session, "2fa/webauthn").json["result"] == .array([]))
            #expect(try await server.send(.get, path, headers: header).status == 404)
        }
    }

    @Test("F3: A device profile is listed, renamed and removed by the identifier that the device reported")
    func managesProfileByIdentifier() async throws {
        try await TestServer.run { server in
            let identifier = "714524572-2799534390"
            var session = ""
            for device in ["Browser", "Work browser"] {
                var step = try await server.logIn("DeviceProfileCallback").step
                let metadata: JSONValue = .object(["platform": .object(["deviceName": .string(device)])])
                let profile: JSONValue = .object(["identifier": .string(identifier), "metadata": metadata])
                step.fill("DeviceProfileCallback", .string(JSON.text(of: profile)))
                session = try #require(try await server.next(step).json["tokenId"]?.string)
            }
            let profiles = try #require(try await list(server, session, "profile").json["result"]?.array)
            #expect(profiles.count == 1, "a second login replaces the profile of the same device")
            var device = try #require(profiles.first?.object)
            #expect(device["_id"] == .string(identifier) && device["identifier"] == .string(identifier))

            // The JavaScript SDKs send the whole device back.
            device["alias"] = "Work"
            let path = "\(Self.users)/mira/devices/profile/\(identifier)"
            let header = [
                "iPlanetDirectoryPro": session, "Accept-API-Version": "resource=1.0", "Content-Type": "application/json",
            ]
            let renamed = try await server.send(.put, path, headers: header, body: JSON.text(of: .object(device)))
            #expect(renamed.status == 200 && renamed.json["alias"] == "Work")
            #expect(try await server.send(.get, path, headers: header).json["_id"] == .string(identifier))
            #expect(try await server.send(.delete, path, headers: header).status == 200)
            #expect(try await list(server, session, "profile").json["result"] == .array([]))
            #expect(try await server.send(.delete, path, headers: header).status == 404)
        }
    }

    @Test(
        "A user cannot list the devices of another user, and unknown kinds of devices get 404",
        arguments: [
            ("noa/devices/2fa/push?_queryFilter=true", "TOKEN", "resource=1.0", 403),
            ("mira/devices/2fa/push?_queryFilter=true", "", "resource=1.0", 401),
            ("mira/devices/2fa/push?_queryFilter=true", "TOKEN", "resource=2.0", 404),
            ("mira/devices/2fa/push", "TOKEN", "resource=1.0", 400),
            ("mira/devices/2fa/toaster?_queryFilter=true", "TOKEN", "resource=1.0", 404),
            ("mira/devices/2fa/profile?_queryFilter=true", "TOKEN", "resource=1.0", 404),
            ("mira/devices/profile/none", "TOKEN", "resource=1.0", 404),
        ])
    func refusesDevicesOfOtherUsersAndUnknownKinds(path: String, token: String, version: String, status: Int) async throws {
        try await TestServer.run { server in
            let session = try await server.session()
            let headers = ["iPlanetDirectoryPro": token.isEmpty ? "" : session, "Accept-API-Version": version]
            let reply = try await server.send(.get, "\(Self.users)/\(path)", headers: headers)
            #expect(reply.status == status)
            #expect(reply.header("Content-API-Version") == "resource=1.0")
        }
    }
}
