import SignetCore
import SignetJourney
import SignetNetwork
import SignetOAuth
import SignetStorage
import SignetTesting
import TestSupport
import Testing

@Suite("Requests about devices, and answers that no development server gives")
struct DeviceAnswerTests {
    private static let user = #"{"id":"mira","realm":"/","dn":"id=mira,ou=user,dc=am"}"#
    private static let passkey =
        #"{"_id":"k-1","uuid":"k-1","deviceName":"Key","credentialId":"AQID","createdDate":1728415453606,"recoveryCodes":["r"]}"#
    private static let session = SSOToken(value: Secret("session-1".utf8))

    private static func list(_ devices: String...) -> String { #"{"result":[\#(devices.joined(separator: ","))]}"# }

    private static func client(
        _ transport: any HTTPTransport, _ profile: ServerProfile? = nil, interceptors: [any RequestInterceptor] = []
    ) throws -> DeviceClient {
        DeviceClient(
            try profile ?? SignetJourneyTests.profile(), session: session, transport: transport, interceptors: interceptors)
    }

    // MARK: Requests

    @Test("The requests for the user and the devices are those of the SDKs, with the session in a header and in no address")
    func sendsRequests() async throws {
        let transport = answering((200, Self.user), (200, Self.list(Self.passkey)), (200, Self.passkey), (204, ""))
        let client = try Self.client(transport)
        let device = try #require(try await client.list(.webauthn).first)
        #expect(device.name == "Key" && device.credentialID == "AQID" && device.lastUsedAt == nil)
        #expect(!"\(device)".contains("recoveryCodes"))
        try await client.rename(device, to: "Blue key")
        try await client.delete(device)

        let requests = transport.requests
        let users = "https://am.example.test/am/json/realms/root/users"
        let devices = "\(users)/mira/devices/2fa/webauthn"
        #expect(requests.map(\.method) == ["POST", "GET", "PUT", "DELETE"])
        let addresses = ["\(users)?_action=idFromSession", "\(devices)?_queryFilter=true", "\(devices)/k-1", "\(devices)/k-1"]
        #expect(requests.map(\.url) == addresses)
        let versions = requests.map { $0.headers["Accept-API-Version"] ?? "" }
        for request in requests {
            #expect(request.headers["iPlanetDirectoryPro"] == "session-1" && request.headers["Cookie"] == nil)
            #expect(request.headers["If-Match"] == nil)
        }
        #expect(versions == ["resource=2.0, protocol=1.0"] + [String](repeating: "resource=1.0, protocol=1.0", count: 3))
        let sent = try JSON.value(of: requests[2].body)
        let expected: JSONValue = .object([
            "_id": "k-1", "uuid": "k-1", "deviceName": "Blue key", "credentialId": "AQID",
            "createdDate": .integer(1_728_415_453_606),
        ])
        #expect(sent == expected)
    }

    @Test("A device for codes or push messages is changed on the condition that it exists", arguments: ["oath", "push"])
    func requiresExistingDevice(kind: String) async throws {
        let device = #"{"_id":"d","deviceName":"Phone"}"#
        let transport = answering((200, Self.user), (200, Self.list(device)), (200, ""))
        let client = try Self.client(transport)
        let kind = try #require(UserDevice.Kind(rawValue: kind))
        let listed = try await client.list(kind)
        let found = try #require(listed.first)
        #expect(try await client.rename(found, to: "Other").name == "Other")
        #expect(transport.requests[2].headers["If-Match"] == "*")
    }

    static let addresses: [(realm: String, override: String?, users: String)] = [
        ("alpha", nil, "https://am.example.test/am/json/realms/root/realms/alpha/users"),
        ("/", "/people", "https://am.example.test/people"),
        ("/", "https://users.example.test/v1", "https://users.example.test/v1"),
    ]

    @Test(
        "The devices are below the profile's address of the users, and names and IDs are percent-encoded", arguments: addresses)
    func usesAddressOfUsers(row: (realm: String, override: String?, users: String)) async throws {
        var endpoints: EndpointOverrides = [:]
        endpoints[.users] = row.override
        let profile = try ServerProfile(url: "https://am.example.test/am", realm: Realm(row.realm), endpoints: endpoints)
        let transport = answering(
            (200, #"{"id":"mira@example.test/x"}"#), (200, Self.list(#"{"_id":"a/../b?c","alias":"Mine"}"#)), (204, ""))
        let client = try Self.client(transport, profile)
        let device = try #require(try await client.list(.profile).first)
        try await client.delete(device)
        let own = "\(row.users)/mira%40example.test%2Fx/devices/profile"
        let addresses = ["\(row.users)?_action=idFromSession", "\(own)?_queryFilter=true", "\(own)/a%2F..%2Fb%3Fc"]
        #expect(transport.requests.map(\.url) == addresses)
    }

    @Test("An OpenAM gets the session in the cookie, and has the push devices at its own address")
    func asksOpenAM() async throws {
        let profile = try ServerProfile(url: "https://am.example.test/am") { $0.dialect = .openAM }
        let transport = answering((200, Self.user), (200, Self.list()))
        #expect(try await Self.client(transport, profile).list(.push).isEmpty)
        let address = "https://am.example.test/am/json/realms/root/users/mira/devices/push?_queryFilter=true"
        #expect(transport.requests.last?.url == address)
        #expect(transport.requests.last?.headers["Cookie"] == "iPlanetDirectoryPro=session-1")
    }

    @Test("Kinds of devices that the server doesn't have are left out of a list of all, unless it has none")
    func leavesOutMissingKinds() async throws {
        let missing = (status: 404, body: #"{"code":404,"reason":"Not Found","message":"Resource not found"}"#)
        let oath = #"{"_id":"o","deviceName":"OATH Device"}"#
        let some = answering((200, Self.user), (200, Self.list(oath)), (200, Self.list()), missing, missing, missing)
        #expect(try await Self.client(some).list().map(\.id) == ["o"])
        let none = answering((200, Self.user), missing, missing, missing, missing, missing)
        await expectDevices(.notOffered) { try await Self.client(none).list() }
    }

    @Test("An interceptor sees each request, and its error ends the call")
    func callsInterceptors() async throws {
        let transport = answering((200, Self.user), (200, Self.list()))
        let client = try Self.client(transport, interceptors: [RefusingInterceptor(action: "USER_DEVICES")])
        await expectDevices(.refused) { try await client.list(.oath) }
        #expect(transport.requests.count == 1)
    }

    // MARK: Answers

    @Test(
        "Each answer to a change has the error that says what the app can do",
        arguments: [
            (401, #"{"code":401,"reason":"Unauthorized","message":"Access Denied"}"#, "loginRequired", false),
            (403, #"{"code":403,"reason":"Forbidden","message":"User not permitted."}"#, "refused", false),
            (404, #"{"code":404,"reason":"Not Found"}"#, "notFound", false),
            (501, #"{"code":501,"reason":"Not Implemented","message":"not supported"}"#, "notOffered", false),
            (500, #"{"code":500,"reason":"Internal Server Error"}"#, "unreachable", true), (503, "<html>", "unreachable", true),
            (429, "", "unreachable", true), (400, #"{"code":400,"message":"no"}"#, "refused", false),
            // A proxy, a captive portal, or another server.
            (401, "<html>Proxy", "serverMisbehaved", false), (404, "<html>", "serverMisbehaved", false),
            (302, "", "serverMisbehaved", true), (200, "<html>Log in to the hotel", "serverMisbehaved", true),
        ])
    func readsAnswerToChange(status: Int, body: String, code: String, isRetryable: Bool) async throws {
        for change in ["rename", "delete"] {
            let client = try Self.client(answering((200, Self.user), (200, Self.list(Self.passkey)), (status, body)))
            let device = try #require(try await client.list(.webauthn).first)
            await expectDevices(UserDeviceError.Code(rawValue: code), isRetryable: isRetryable) { () async throws -> Void in
                guard change == "rename" else { return try await client.delete(device) }
                try await client.rename(device, to: "x")
            }
        }
    }

    @Test(
        "A list that is not one of AM is refused as a whole",
        arguments: [
            "", "<html>", "[]", "{}", #"{"result":{}}"#, #"{"result":[1]}"#, #"{"result":[{"deviceName":"no id"}]}"#,
            #"{"result":[{"_id":"","deviceName":"x"}]}"#, #"{"result":[{"_id":"..","deviceName":"x"}]}"#,
            #"{"result":[{"_id":"a","deviceName":"x"},{"_id":7}]}"#,
        ])
    func refusesInvalidList(body: String) async throws {
        let client = try Self.client(answering((200, Self.user), (200, body)))
        await expectDevices(.serverMisbehaved, isRetryable: true) { try await client.list(.oath) }
    }

    @Test(
        "An answer that doesn't name the user is refused, and no devices are asked for",
        arguments: ["", "<html>", "{}", #"{"id":""}"#, #"{"id":".."}"#, #"{"id":7}"#])
    func refusesInvalidUser(body: String) async throws {
        let transport = answering((200, body))
        let client = try Self.client(transport)
        await expectDevices(.serverMisbehaved) { try await client.list() }
        #expect(transport.requests.count == 1)
    }

    @Test("An error has the server's message, and the time to wait")
    func errorHasMessageAndTime() async throws {
        let transport = ScriptedTransport { _ in
            HTTPResponse(status: 429, headers: ["Retry-After": "7"], body: Array(#"{"code":429,"message":"slow down"}"#.utf8))
        }
        let client = try Self.client(transport)
        await #expect {
            try await client.list()
        } throws: { error in
            let error = error as? UserDeviceError
            return error?.message == "slow down" && error?.status == 429 && error?.retryAfter == .seconds(7)
        }
    }

    @Test("A session that the storage can't read is an error of the storage, and no request is sent")
    func reportsStorageErrorOfDevices() async throws {
        let transport = answering((200, Self.user))
        let store = try SessionStore(
            tokens: MemorySlot<AccessToken>(), session: BrokenSessionStorage(), cookies: MemorySlot<CookieJar>())
        let app = try IdentityClient(SignetJourneyTests.profile(), store: store, transport: transport)
        await expectDevices(.storage) { try await app.devices.list() }
        #expect(transport.requests.isEmpty)
    }
}

private struct RefusingInterceptor: RequestInterceptor {
    struct Refusal: Error {}
    let action: String

    func intercept(_ request: HTTPRequest, for action: RequestAction) async throws -> HTTPRequest {
        guard action.name != self.action else { throw Refusal() }
        return request
    }
}

private struct BrokenSessionStorage: Storage {
    struct Failure: Error {}

    func save(item: sending SSOToken) async throws { throw Failure() }
    func get() async throws -> SSOToken? { throw Failure() }
    func delete() async throws { throw Failure() }
}
